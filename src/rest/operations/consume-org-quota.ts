import { integerOf } from '../../lib/int64.js';
import { quotaRejections } from '../../keys/quota/quota.js';
import { malformedParameter } from '../../http/query-parameters.js';
import { readOptionalMembers } from '../json-body.js';
import { jsonResponse, type HTTPResponse } from '../../http/response.js';
import { parseIdempotencyKey, parseKeyID, rejectParameters } from '../parameters.js';
import { defineRoute, type RouteCall } from '../route.js';
import { idempotencyKey, int64, keyID, unknownKey } from './shared-docs.js';

export const consumeOrgQuota = defineRoute({
  operation: 'consumeOrgQuota',
  method: 'POST',
  path: '/svc/org/keys/*/quota',
  credential: 'service',
  errors: ['NOT_FOUND'],
  tag: 'Quota',
  summary: 'Consume the live quota',
  description:
    'Counts requests against the live quota, all of `amount` or none. For gateways that check the quota before they let requests pass. The definition and its version stay the same.',
  parameters: [keyID, idempotencyKey],
  input: {
    name: 'QuotaRequest',
    schema: {
      type: 'object',
      description: 'The number of requests. Without a body it is 1.',
      properties: { amount: { ...int64('The number of requests, at least 1. Default: 1.'), minimum: 1 } },
      additionalProperties: false,
    },
  },
  output: {
    name: 'QuotaConsumption',
    members: {
      allowed: {
        type: 'boolean',
        description: 'Whether the requests may pass. If true, all of them are counted; if false, none is.',
      },
      used: int64('Requests counted in the current period.'),
      remaining: int64('Requests left in the current period; -1 when unlimited.'),
      quota_max: int64('Requests allowed in a period; -1 when unlimited.'),
    },
    optional: {
      refusal: {
        type: 'string',
        enum: Object.keys(quotaRejections),
        description: 'The reason why the requests may not pass; absent when they may.',
      },
      renews_at: int64('When the period ends, in Unix seconds; absent when the quota does not renew.'),
    },
  },
  success: 'OK',
  examples: {
    allowed: {
      summary: 'Ten requests',
      parameters: { keyID: 'acme-billing' },
      body: `{ "amount": 10 }`,
      status: 200,
      response: `{ "allowed": true, "used": 8130, "remaining": 1870, "quota_max": 10000, "renews_at": 1772452800 }`,
    },
    exceeded: {
      summary: 'More requests than remain: none is counted',
      parameters: { keyID: 'acme-billing' },
      body: `{ "amount": 2000 }`,
      status: 200,
      response: `
        {
          "allowed": false,
          "refusal": "QUOTA_EXCEEDED",
          "used": 8120,
          "remaining": 1880,
          "quota_max": 10000,
          "renews_at": 1772452800
        }`,
    },
    mistakes: {
      summary: 'An amount of 0',
      parameters: { keyID: 'acme-billing' },
      body: `{ "amount": 0 }`,
      status: 400,
      response: `
        {
          "status": "error",
          "message": "The amount is not valid.",
          "code": "INVALID",
          "issues": [
            {
              "path": "amount",
              "code": "OUT_OF_RANGE",
              "message": "must be from 1 to 4611686018427387903"
            }
          ],
          "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
        }`,
    },
    unknownKey: { ...unknownKey, body: `{ "amount": 1 }` },
  },
  handle,
});

/** `POST /svc/org/keys/{keyID}/quota`: counts requests against the live quota, `{"amount": n}` of them or one. */
async function handle(call: RouteCall): Promise<HTTPResponse> {
  const { caller, keys, wildcard, query } = call;
  rejectParameters(query);
  const keyID = parseKeyID(wildcard);
  const members = await readOptionalMembers(call, ['amount']);
  const amount = integerOf(members.amount ?? 1n);
  if (amount === undefined) throw malformedParameter('amount', 'must be an integer');
  const { allowed, rejection, figures } = await keys.consumeOrgQuota(caller, {
    keyID,
    amount,
    idempotencyKey: parseIdempotencyKey(call.request.headers.get('idempotency-key')),
  });
  return jsonResponse({
    allowed,
    ...(rejection && { refusal: rejection }),
    used: figures.used,
    remaining: figures.remaining ?? -1n,
    quota_max: figures.max ?? -1n,
    ...(figures.renewsAt !== undefined && { renews_at: figures.renewsAt }),
  });
}
