import { readDefinition, warningsMember } from '../json-body.js';
import { changeResponse } from '../key-response.js';
import { parseIdempotencyKey, parseKeyID, rejectParameters } from '../parameters.js';
import { defineRoute, type RouteCall } from '../route.js';
import { change, idempotencyKey, keyID, otherOrganization, warnings } from './shared-docs.js';
import type { HTTPResponse } from '../../http/response.js';

export const createOrgKey = defineRoute({
  operation: 'createOrgKey',
  method: 'POST',
  path: '/svc/org/keys/*',
  credential: 'service',
  errors: ['CONFLICT'],
  tag: 'Keys',
  summary: 'Create an organization key',
  description: 'Creates a key. `org_id` is required unless the credential is bound to an organization.',
  parameters: [keyID, idempotencyKey],
  input: { name: 'UpdateKeyInput', variant: 'update' },
  output: { ...change('OrgKeyCreation', 'added'), optional: { warnings } },
  success: 'OK',
  isVersioned: true,
  examples: {
    create: {
      summary: 'A new key',
      parameters: { keyID: 'acme-partners' },
      body: `{ "alias": "Partners", "org_id": "acme", "rate": 10, "per": 1, "quota_max": 1000, "quota_renewal_rate": 86400, "apply_policies": ["silver"] }`,
      status: 200,
      response: `
        {
          "action": "added",
          "key": "acme-partners",
          "key_hash": "7c04b262d38ca1bb106b35b13a9c79d627fb62c9c8c4eba85cb8d7509bbf8116",
          "status": "ok"
        }`,
      etag: '"1"',
    },
    mistakes: {
      summary: 'A password hash that is too weak',
      parameters: { keyID: 'acme-partners' },
      body: `{ "alias": "Partners", "org_id": "acme", "basic_auth_data": { "user": "partners", "password": "correct horse", "hash_type": "md5" } }`,
      status: 400,
      response: `
        {
          "status": "error",
          "message": "The key definition has a problem.",
          "code": "INVALID",
          "issues": [
            {
              "path": "basic_auth_data.hash_type",
              "code": "WEAK_HASH",
              "message": "must be bcrypt or argon2id; a fast hash does not protect a password"
            }
          ],
          "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
        }`,
    },
    otherOrganization: {
      ...otherOrganization,
      summary: 'A key of globex, with a credential that is bound to acme',
      parameters: { keyID: 'globex-partners' },
      body: `{ "alias": "Partners", "org_id": "globex" }`,
    },
    exists: {
      summary: 'A key that exists already',
      parameters: { keyID: 'acme-billing' },
      body: `{ "alias": "Billing", "org_id": "acme" }`,
      status: 409,
      response: `
        {
          "status": "error",
          "message": "The key exists already; it is not overwritten.",
          "code": "CONFLICT",
          "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
        }`,
    },
  },
  handle,
});

/** `POST /svc/org/keys/{keyID}`: creates a key. */
async function handle(call: RouteCall): Promise<HTTPResponse> {
  const { caller, keys, wildcard, query } = call;
  rejectParameters(query);
  const keyID = parseKeyID(wildcard);
  const idempotencyKey = parseIdempotencyKey(call.request.headers.get('idempotency-key'));
  const input = await readDefinition(call, 'update');
  const { key, warnings } = await keys.createOrgKey(caller, { keyID, input, idempotencyKey });
  return changeResponse('added', keyID, key, warningsMember(call, warnings));
}
