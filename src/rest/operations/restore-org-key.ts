import { changeResponse } from '../key-response.js';
import { changeConditions, parseKeyID, rejectParameters } from '../parameters.js';
import { defineRoute, type RouteCall } from '../route.js';
import { change, idempotencyKey, ifMatch, keyID, malformed } from './shared-docs.js';
import type { HTTPResponse } from '../../http/response.js';

export const restoreOrgKey = defineRoute({
  operation: 'restoreOrgKey',
  method: 'POST',
  path: '/svc/org/keys/*/restore',
  credential: 'service',
  errors: ['NOT_FOUND', 'CONFLICT'],
  tag: 'Keys',
  summary: 'Restore a deleted organization key',
  description: 'Restores a deleted key as it was when it was deleted.',
  parameters: [keyID, ifMatch, idempotencyKey],
  output: change('OrgKeyRestoration', 'restored'),
  success: 'OK',
  isVersioned: true,
  examples: {
    restore: {
      summary: 'A key that was deleted',
      parameters: { keyID: 'acme-mobile', 'If-Match': '*' },
      status: 200,
      response: `
        {
          "action": "restored",
          "key": "acme-mobile",
          "key_hash": "5429b7fdb3b24431f2ae6f4ea5409c557275077bca58dfc6cdc6445e29871e9e",
          "status": "ok"
        }`,
      etag: '"3"',
    },
    malformed,
    notDeleted: {
      summary: 'A key that is not deleted',
      parameters: { keyID: 'acme-billing' },
      status: 404,
      response: `
        {
          "status": "error",
          "message": "There is no deleted key to restore.",
          "code": "NOT_FOUND",
          "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
        }`,
    },
    changedSince: {
      summary: 'For version 1 of a key that was deleted after it',
      parameters: { keyID: 'acme-mobile', 'If-Match': '"1"' },
      status: 412,
      response: `
        {
          "status": "error",
          "message": "The key has version 2; the expected version is 1.",
          "code": "CONFLICT",
          "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
        }`,
    },
  },
  handle,
});

/** `POST /svc/org/keys/{keyID}/restore`: restores a deleted key. */
async function handle({ request, caller, keys, wildcard, query }: RouteCall): Promise<HTTPResponse> {
  rejectParameters(query);
  const keyID = parseKeyID(wildcard);
  const { key } = await keys.restoreOrgKey(caller, { keyID, ...changeConditions(request) });
  return changeResponse('restored', keyID, key);
}
