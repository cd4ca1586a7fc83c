import { integerOf } from '../../lib/int64.js';
import { malformedParameter } from '../../http/query-parameters.js';
import { keyIDPrefixProblem } from '../../keys/key-id.js';
import { defaultOverlapSeconds, maxOverlapSeconds, minSilenceSeconds } from '../../keys/rotate.js';
import { readOptionalMembers } from '../json-body.js';
import { changeResponse, identifiersToJSON } from '../key-response.js';
import { changeConditions, parseKeyID, rejectParameters } from '../parameters.js';
import { defineRoute, type RouteCall } from '../route.js';
import {
  change,
  changedSince,
  idempotencyKey,
  identifierHash,
  ifMatch,
  keyID,
  rotation,
  text,
  unknownKey,
} from './shared-docs.js';
import type { HTTPResponse } from '../../http/response.js';

export const rotateOrgKey = defineRoute({
  operation: 'rotateOrgKey',
  method: 'POST',
  path: '/svc/org/keys/*/rotate',
  credential: 'service',
  errors: ['NOT_FOUND', 'CONFLICT'],
  tag: 'Keys',
  summary: 'Give an organization key a new identifier',
  description:
    '`key` of the response is the new, generated identifier. During the overlap both identifiers are accepted, and are the same key with one version, one history and one quota; then the old one is rejected. 409 with the issue `ROTATION_RUNNING` while an earlier rotation runs.',
  parameters: [keyID, ifMatch, idempotencyKey],
  input: {
    name: 'KeyRotationRequest',
    schema: {
      type: 'object',
      description: 'Without a body, the defaults apply.',
      properties: {
        overlap: {
          type: 'integer',
          minimum: 0,
          maximum: maxOverlapSeconds,
          description: `How long the old identifier is accepted, in seconds: from 0, for an identifier that leaked. Default: ${defaultOverlapSeconds} (a day).`,
        },
        silence: {
          type: 'integer',
          minimum: minSilenceSeconds,
          maximum: maxOverlapSeconds,
          description:
            'Retires the old identifier before the overlap ends, when the new one was used and the old one had no request for so many seconds. Default: it retires at the end of the overlap.',
        },
        prefix: {
          ...text,
          description:
            'Readable beginning of the new identifier, as for a creation. Default: the identifier of the organization.',
        },
      },
      additionalProperties: false,
    },
  },
  output: { ...change('OrgKeyRotation', 'rotated'), optional: { identifier_hash: identifierHash, rotation } },
  success: 'OK',
  isVersioned: true,
  examples: {
    rotate: {
      summary: 'The old identifier is accepted for a week',
      parameters: { keyID: 'acme-mobile', 'If-Match': '"1"' },
      body: `{ "overlap": 604800, "prefix": "acme_mobile_" }`,
      status: 200,
      response: `
        {
          "action": "rotated",
          "key": "acme_mobile_3f0c9d1e5b7a4826a1d4c6e8f0b2937d0337b71b",
          "key_hash": "5429b7fdb3b24431f2ae6f4ea5409c557275077bca58dfc6cdc6445e29871e9e",
          "status": "ok",
          "identifier_hash": "c259562d1822bc2405e818842e9ea6d4066666500edc6517e6f5269fa57f051f",
          "rotation": {
            "old_key": "acme-mobile",
            "old_identifier_hash": "5429b7fdb3b24431f2ae6f4ea5409c557275077bca58dfc6cdc6445e29871e9e",
            "retires_at": "2026-02-07T12:00:00.000Z"
          }
        }`,
      etag: '"2"',
    },
    mistakes: {
      summary: 'An overlap of more than 90 days',
      parameters: { keyID: 'acme-mobile' },
      body: `{ "overlap": 10000000 }`,
      status: 400,
      response: `
        {
          "status": "error",
          "message": "The overlap is not valid.",
          "code": "INVALID",
          "issues": [
            { "path": "overlap", "code": "OUT_OF_RANGE", "message": "must be from 0 to 7776000 seconds, which are 90 days" }
          ],
          "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
        }`,
    },
    unknownKey,
    changedSince,
    running: {
      summary: 'A key of which a rotation runs',
      parameters: { keyID: 'acme-mobile', 'If-Match': '"2"' },
      status: 409,
      response: `
        {
          "status": "error",
          "message": "A rotation of the key runs already.",
          "code": "CONFLICT",
          "issues": [
            {
              "path": "rotation",
              "code": "ROTATION_RUNNING",
              "message": "runs already: wait until the previous identifier retires, or cancel it"
            }
          ],
          "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
        }`,
    },
  },
  handle,
});

/** `POST /svc/org/keys/{keyID}/rotate`: gives a key a generated identifier. Without a body, the defaults apply. */
async function handle(call: RouteCall): Promise<HTTPResponse> {
  const { request, caller, keys, wildcard, query } = call;
  rejectParameters(query);
  const keyID = parseKeyID(wildcard);
  const conditions = changeConditions(request);
  const options = await optionsFrom(call);
  const { key } = await keys.rotateOrgKey(caller, { keyID, ...options, ...conditions });
  return changeResponse('rotated', keys.newKeyIDOf(key), key, identifiersToJSON(keys, key));
}

async function optionsFrom(
  call: RouteCall,
): Promise<{ overlapSeconds?: number; silenceSeconds?: number; keyIDPrefix?: string }> {
  const { overlap, silence, prefix } = await readOptionalMembers(call, ['overlap', 'silence', 'prefix']);
  const overlapSeconds = secondsFrom('overlap', overlap);
  const silenceSeconds = secondsFrom('silence', silence);
  if (prefix !== undefined && prefix !== null && typeof prefix !== 'string') {
    throw malformedParameter('prefix', 'must be a string');
  }
  const problem = typeof prefix === 'string' ? keyIDPrefixProblem(prefix) : undefined;
  if (problem !== undefined) throw malformedParameter('prefix', problem);
  return {
    ...(overlapSeconds !== undefined && { overlapSeconds }),
    ...(silenceSeconds !== undefined && { silenceSeconds }),
    ...(typeof prefix === 'string' && { keyIDPrefix: prefix }),
  };
}

function secondsFrom(name: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const seconds = integerOf(value);
  if (seconds === undefined) throw malformedParameter(name, 'must be an integer');
  return Number(seconds);
}
