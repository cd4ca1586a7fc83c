import { readPatch } from '../json-body.js';
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

export const patchOrgKey = defineRoute({
  operation: 'patchOrgKey',
  method: 'PATCH',
  path: '/svc/org/keys/*',
  credential: 'service',
  errors: ['NOT_FOUND', 'CONFLICT'],
  tag: 'Keys',
  summary: 'Change some fields of an organization key',
  description:
    'Changes the fields of the definition that the body contains and, with `reset_quota=1`, resets the quota, in one transaction. The body is a JSON Merge Patch (RFC 7396): an absent field keeps its value, null clears it, an object is merged with the stored one, and any other value replaces the stored one. In `access_rights`, null removes an entry. The content type may be `application/merge-patch+json` or `application/json`.',
  parameters: [keyID, resetQuota, ifMatch, idempotencyKey],
  input: { name: 'PatchKeyInput', variant: 'patch' },
  output: { ...change('OrgKeyPatch', 'modified'), optional: { warnings } },
  success: 'OK',
  isVersioned: true,
  mayReset: true,
  examples: {
    patch: {
      summary: 'Raises the rate, removes the tags, and adds an API',
      parameters: { keyID: 'acme-billing', 'If-Match': '"1"' },
      body: `{ "rate": 200, "tags": null, "access_rights": { "payments": { "api_id": "payments" } } }`,
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
    mistakes: {
      summary: 'A rate below -1 for one API',
      parameters: { keyID: 'acme-billing' },
      body: `{ "access_rights": { "invoices": { "limit": { "rate": -5 } } } }`,
      status: 400,
      response: `
        {
          "status": "error",
          "message": "The key definition has a problem.",
          "code": "INVALID",
          "issues": [
            { "path": "access_rights.invoices.limit.rate", "code": "OUT_OF_RANGE", "message": "must be at least -1" }
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

/** `PATCH /svc/org/keys/{keyID}`: changes some fields of a key. The `ETag` is the key's new version. */
async function handle(call: RouteCall): Promise<HTTPResponse> {
  const { request, caller, keys, wildcard, query } = call;
  const keyID = parseKeyID(wildcard);
  const resetQuota = parseFlag(query, 'reset_quota');
  const conditions = changeConditions(request);
  const patch = await readPatch(call);
  const changed = await keys.patchOrgKey(caller, { keyID, patch, resetQuota, ...conditions });
  return definitionResponse(call, keyID, changed);
}
