import { accessCodes, proofs, type AccessReason, type Proof } from '../../keys/access/decide-access.js';
import type { KeyReference } from '../../keys/queries/read-keys.js';
import { maxVerifications, type Verification, type VerifyRequest } from '../../keys/verify.js';
import { jsonResponse, type HTTPResponse } from '../../http/response.js';
import { AppError, pathText, type Issue } from '../../lib/errors.js';
import { integerOf } from '../../lib/int64.js';
import { isObject, type JSONValue } from '../../lib/json.js';
import { nearest } from '../../lib/nearest.js';
import { definitionToWire, issuesToWire, wireName } from '../../wire/field-names.js';
import { readJSON } from '../json-body.js';
import { rejectParameters } from '../parameters.js';
import { defineRoute, type RouteCall } from '../route.js';
import { int64, keyHash } from './shared-docs.js';

const requestMembers = {
  key_id: {
    type: 'string',
    description: 'The identifier of the key, as the client sent it. Required. One that no key can have is NOT_FOUND.',
  },
  api: { type: 'string', description: 'Name of the API at the gateway. Without it, access rights are not checked.' },
  version: { type: 'string', description: 'Version of the API. Without it, versions are not checked.' },
  method: { type: 'string', description: 'HTTP method, in any case.' },
  path: { type: 'string', description: 'Path of the request as the client sent it. A query is ignored.' },
  amount: {
    ...int64(
      'The number of requests that it takes from the quota. Default: 1. 0 leaves the quota out of the decision.',
    ),
    minimum: 0,
  },
  proofs: {
    type: 'array',
    items: { type: 'string', enum: Object.keys(proofs) },
    description: 'What the client has proved beside the identifier, and the gateway has verified.',
  },
  idempotency_key: {
    type: 'string',
    description:
      'Identifies the request at the gateway: within 24 hours, it is counted once with the same members, and decided each time. 1 to 255 visible ASCII characters.',
  },
} as const;

const result = {
  type: 'object',
  properties: {
    allowed: { type: 'boolean', description: 'Whether the request may pass. If true, it was counted.' },
    code: { type: 'string', enum: Object.keys(accessCodes), description: 'VALID, or the first reason to deny it.' },
    reasons: {
      type: 'array',
      description: 'All reasons to deny the request; absent if it is allowed.',
      items: {
        type: 'object',
        properties: {
          code: { type: 'string' },
          message: { type: 'string', description: 'An English sentence. Do not parse it.' },
          path: { type: 'string', description: 'The field of the key that the reason is about.' },
          policy_id: { type: 'string', description: 'The policy that the reason comes from.' },
        },
        required: ['code', 'message'],
      },
    },
    key_hash: keyHash,
    org_id: { type: 'string', description: 'The organization that owns the key; absent if there is no key.' },
    alias: { type: 'string', description: 'Display name of the key; absent if it has none.' },
    limits: {
      type: 'object',
      description:
        'The limits that apply to the request, by the names of the definition: those of its API, or of the key if it names none. The gateway enforces them, except for the quota of the key.',
    },
    quota: {
      type: 'object',
      description:
        'The live quota, including the request if it is allowed. Absent if there is no key, or the counter was not read for a request that is denied for another reason.',
      properties: {
        used: int64('Requests counted in the current period.'),
        remaining: int64('Requests left in the current period; -1 when unlimited.'),
        quota_max: int64('Requests allowed in a period; -1 when unlimited.'),
        renews_at: int64('When the period ends, in Unix seconds; absent when the quota does not renew.'),
      },
      required: ['used', 'remaining', 'quota_max'],
    },
  },
  required: ['allowed', 'code'],
};

export const verifyKeys = defineRoute({
  operation: 'verifyKeys',
  method: 'POST',
  path: '/svc/keys/verify',
  credential: 'service',
  errors: [],
  tag: 'Quota',
  summary: 'Verify keys for a gateway',
  description:
    'Decides whether requests with keys are allowed, and counts those that are against the live quotas of their keys. If one cannot be decided, the response is its error, and others may be counted: with an `idempotency_key` each, the request can be repeated. A key that the credential cannot see is NOT_FOUND.',
  parameters: [],
  input: {
    name: 'VerifyKeysRequest',
    schema: {
      type: 'object',
      properties: {
        requests: {
          type: 'array',
          minItems: 1,
          maxItems: maxVerifications,
          description: 'The requests, at least one.',
          items: {
            type: 'object',
            properties: requestMembers,
            required: ['key_id'],
            additionalProperties: false,
          },
        },
      },
      required: ['requests'],
      additionalProperties: false,
    },
  },
  output: {
    name: 'VerifyKeysResponse',
    members: { results: { type: 'array', items: result, description: 'The decisions, in the order of the requests.' } },
  },
  success: 'OK',
  examples: {
    two: {
      summary: 'A key that may call the API, and one that does not exist',
      body: `
        {
          "requests": [
            { "key_id": "globex-reports", "api": "reports", "version": "v2", "method": "GET", "path": "/reports/7" },
            { "key_id": "acme-nothing" }
          ]
        }`,
      status: 200,
      response: `
        {
          "results": [
            {
              "allowed": true,
              "code": "VALID",
              "key_hash": "3d90f778fe0dcbeafef8aab145a8dc017231e624c3e9e84c1abfcd3746966810",
              "org_id": "globex",
              "alias": "Nightly reports",
              "limits": { "rate": 5, "per": 1, "quota_max": 500, "quota_renewal_rate": 86400 },
              "quota": { "used": 1, "remaining": 499, "quota_max": 500, "renews_at": 1769947200 }
            },
            {
              "allowed": false,
              "code": "NOT_FOUND",
              "reasons": [{ "code": "NOT_FOUND", "message": "There is no such key." }]
            }
          ]
        }`,
    },
    mistakes: {
      summary: 'A request without a key',
      body: `{ "requests": [{ "api": "invoices", "amount": -1 }] }`,
      status: 400,
      response: `
        {
          "status": "error",
          "message": "The request to verify is not valid.",
          "code": "INVALID",
          "issues": [
            { "path": "requests[0].key_id", "code": "MISSING", "message": "is required" }
          ],
          "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
        }`,
    },
  },
  handle,
});

/** `POST /svc/keys/verify`: decides about `{"requests": [{"key_id": …}]}`. */
async function handle(call: RouteCall): Promise<HTTPResponse> {
  rejectParameters(call.query);
  const requests = requestsFrom(await readJSON(call));
  try {
    const results = await call.keys.verifyKeys(call.caller, requests);
    return jsonResponse({ results: results.map(resultToWire) });
  } catch (error) {
    throw inWireNames(error);
  }
}

/** The result of a request, for a gateway. */
function resultToWire(verification: Verification): object {
  const { isAllowed, code, reasons, keyHash: hash, orgID, alias, limits, quota } = verification;
  return {
    allowed: isAllowed,
    code,
    ...(reasons.length > 0 && { reasons: reasons.map(reasonToWire) }),
    ...(hash !== undefined && { key_hash: hash }),
    ...(orgID !== undefined && { org_id: orgID }),
    ...(alias !== undefined && { alias }),
    ...(hash !== undefined && { limits: definitionToWire(limits) }),
    ...(quota && {
      quota: {
        used: quota.used,
        remaining: quota.remaining ?? -1n,
        quota_max: quota.max ?? -1n,
        ...(quota.renewsAt !== undefined && { renews_at: quota.renewsAt }),
      },
    }),
  };
}

function reasonToWire({ code, message, path, origin }: AccessReason): object {
  const [issue] = issuesToWire([{ path: path ?? [], code, message }], undefined);
  return {
    code,
    message: issue?.message ?? message,
    ...(path && issue && { path: pathText(issue.path) }),
    ...(origin?.policyID !== undefined && { policy_id: origin.policyID }),
  };
}

type ParsedRequest = VerifyRequest & KeyReference;

/** @throws {AppError} INVALID with the path of the first problem of each request. */
function requestsFrom(body: JSONValue): ParsedRequest[] {
  if (!isObject(body)) throw invalid([{ path: [], code: 'WRONG_TYPE', message: 'must be an object' }]);
  const unknown = Object.keys(body).find((name) => name !== 'requests');
  if (unknown !== undefined)
    throw invalid([{ path: [unknown], code: 'UNKNOWN_FIELD', message: 'is not a member; the only one is `requests`' }]);
  const { requests } = body;
  const isCounted = Array.isArray(requests) && requests.length >= 1 && requests.length <= maxVerifications;
  if (!isCounted) {
    const message = `must be a list of 1 to ${maxVerifications} requests`;
    throw invalid([{ path: ['requests'], code: 'WRONG_TYPE', message }]);
  }
  const issues: Issue[] = [];
  const parsed = requests.flatMap((request: unknown, index): ParsedRequest[] => {
    const read = requestFrom(request);
    if (!('message' in read)) return [read];
    issues.push({ ...read, path: ['requests', index, ...read.path] });
    return [];
  });
  if (issues.length > 0) throw invalid(issues);
  return parsed;
}

const isMember = (name: string): name is keyof typeof requestMembers => Object.hasOwn(requestMembers, name);

/** Returns a request, or its first problem. */
function requestFrom(request: unknown): ParsedRequest | Issue {
  if (!isObject(request)) return { path: [], code: 'WRONG_TYPE', message: 'must be an object' };
  const texts: { -readonly [Name in keyof typeof requestMembers]?: string } = {};
  let amount: bigint | undefined;
  let proven: readonly Proof[] | undefined;
  for (const [name, value] of Object.entries(request)) {
    const wrong = (code: string, message: string): Issue => ({ path: [name], code, message });
    if (!isMember(name)) {
      const similar = nearest(name, Object.keys(requestMembers));
      return wrong('UNKNOWN_FIELD', `is an unknown member${similar ? `; did you mean \`${similar}\`?` : ''}`);
    }
    if (value === null) continue;
    if (name === 'amount') {
      amount = integerOf(value);
      if (amount === undefined) return wrong('WRONG_TYPE', 'must be an integer');
    } else if (name === 'proofs') {
      proven = proofsFrom(value);
      if (!proven) return wrong('WRONG_TYPE', `must be a list of ${Object.keys(proofs).join(', ')}`);
    } else if (typeof value === 'string') texts[name] = value;
    else return wrong('WRONG_TYPE', 'must be a string');
  }
  const { key_id: keyID, idempotency_key: idempotencyKey, api, version, method, path } = texts;
  if (keyID === undefined) return { path: ['key_id'], code: 'MISSING', message: 'is required' };
  return { keyID, api, version, method, path, amount, proofs: proven, idempotencyKey };
}

function proofsFrom(value: unknown): readonly Proof[] | undefined {
  const isProof = (item: unknown): item is Proof => typeof item === 'string' && Object.hasOwn(proofs, item);
  return Array.isArray(value) && value.length <= 10 && value.every(isProof) ? value : undefined;
}

function invalid(issues: readonly Issue[]): AppError {
  return new AppError('INVALID', 'The request to verify is not valid.', { issues });
}

function inWireNames(error: unknown): unknown {
  if (!(error instanceof AppError) || error.issues.length === 0) return error;
  const issues = error.issues.map(({ path, ...issue }) => ({
    ...issue,
    path: path.map((step) => (typeof step === 'string' ? wireName(step) : step)),
  }));
  return new AppError(error.code, error.message, { issues, cause: error });
}
