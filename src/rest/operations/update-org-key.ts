import { readDefinition } from '../json-body.js';
import { definitionResponse } from '../key-response.js';
import { changeConditions, parseFlag, parseKeyID } from '../parameters.js';
import { defineRoute, type RouteCall } from '../route.js';
import {
  change,
  changedSince,
  idempotencyKey,
  ifMatch,
  keyID,
  resetQuota,
  unknownKey,
  warnings,
} from './shared-docs.js';
import type { HTTPResponse } from '../../http/response.js';

export const updateOrgKey = defineRoute({
  operation: 'updateOrgKey',
  method: 'PUT',
  path: '/svc/org/keys/*',
  credential: 'service',
  errors: ['NOT_FOUND', 'CONFLICT'],
  tag: 'Keys',
  summary: 'Update an organization key',
  description:
    'Replaces the definition of an existing key and, with `reset_quota=1`, resets its quota, in one transaction. A field that is absent or null is removed. A secret stays until it is replaced, or removed with null.',
  parameters: [keyID, resetQuota, ifMatch, idempotencyKey],
  input: { name: 'UpdateKeyInput', variant: 'update' },
  output: { ...change('OrgKeyUpdate', 'modified'), optional: { warnings } },
  success: 'OK',
  isVersioned: true,
  mayReset: true,
  examples: {
    replace: {
      summary: 'Replaces any version, and resets the quota',
      parameters: { keyID: 'acme-billing', reset_quota: 1, 'If-Match': '*' },
      body: `
        {
          "alias": "Billing, production",
          "rate": 200,
          "per": 60,
          "quota_max": 20000,
          "quota_renewal_rate": 2592000,
          "tags": ["billing", "production"],
          "apply_policies": ["gold"]
        }`,
      status: 200,
      response: `
        {
          "action": "modified",
          "key": "acme-billing",
          "key_hash": "8805bb626b61fcb32e4c55b535399c92ecc8c2bb0dcaa3d327ec5a19da7adbd4",
          "status": "ok"
        }`,
      etag: '"2"',
    },
    ifUnchanged: {
      summary: 'Only if the key still has version 1; the quota stays',
      parameters: { keyID: 'acme-mobile', 'If-Match': '"1"' },
      body: `{ "alias": "Mobile application", "rate": 40, "per": 1, "expires": 1700000000, "apply_policies": ["silver"] }`,
      status: 200,
      response: `
        {
          "action": "modified",
          "key": "acme-mobile",
          "key_hash": "5429b7fdb3b24431f2ae6f4ea5409c557275077bca58dfc6cdc6445e29871e9e",
          "status": "ok",
          "warnings": [{ "path": "expires", "code": "EXPIRES_IN_PAST", "message": "has passed already" }]
        }`,
      etag: '"2"',
    },
    mistakes: {
      summary: 'A field that only a preview has, and a rate below -1',
      parameters: { keyID: 'acme-billing' },
      body: `{ "key_id": "acme-billing", "rate": -5 }`,
      status: 400,
      response: `
        {
          "status": "error",
          "message": "The key definition has 2 problems.",
          "code": "INVALID",
          "issues": [
            { "path": "rate", "code": "OUT_OF_RANGE", "message": "must be at least -1" },
            { "path": "key_id", "code": "WRONG_VARIANT", "message": "belongs to the preview only" }
          ],
          "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
        }`,
    },
    unknownKey: {
      ...unknownKey,
      summary: 'A key that does not exist: it is not created',
      body: `{ "alias": "Nothing" }`,
    },
    changedSince: {
      ...changedSince,
      summary: 'For version 1 of a key that was changed since: the response lists the changed fields',
      body: `{ "alias": "Billing, renamed" }`,
    },
  },
  handle,
});

/** `PUT /svc/org/keys/{keyID}`: replaces the definition of a key that exists. The `ETag` is the key's new version. */
async function handle(call: RouteCall): Promise<HTTPResponse> {
  const { request, caller, keys, wildcard, query } = call;
  const keyID = parseKeyID(wildcard);
  const resetQuota = parseFlag(query, 'reset_quota');
  const conditions = changeConditions(request);
  const input = await readDefinition(call, 'update');
  const update = { keyID, input, resetQuota, ...conditions };
  return definitionResponse(call, keyID, await keys.updateOrgKey(caller, update));
}
