import { changeResponse } from '../key-response.js';
import { changeConditions, parseKeyID, rejectParameters } from '../parameters.js';
import { defineRoute, type RouteCall } from '../route.js';
import { change, changedSince, idempotencyKey, ifMatch, keyID, malformed, unknownKey } from './shared-docs.js';
import type { HTTPResponse } from '../../http/response.js';

export const deleteOrgKey = defineRoute({
  operation: 'deleteOrgKey',
  method: 'DELETE',
  path: '/svc/org/keys/*',
  credential: 'service',
  errors: ['NOT_FOUND', 'CONFLICT'],
  tag: 'Keys',
  summary: 'Delete an organization key',
  description: 'Deletes a key. It can be restored for `KEYFRONT_RESTORE_DAYS` days; then it is purged.',
  parameters: [keyID, ifMatch, idempotencyKey],
  output: change('OrgKeyDeletion', 'deleted'),
  success: 'OK',
  isVersioned: true,
  examples: {
    delete: {
      summary: 'A key of any version',
      parameters: { keyID: 'acme-mobile', 'If-Match': '*' },
      status: 200,
      response: `
        {
          "action": "deleted",
          "key": "acme-mobile",
          "key_hash": "5429b7fdb3b24431f2ae6f4ea5409c557275077bca58dfc6cdc6445e29871e9e",
          "status": "ok"
        }`,
      etag: '"2"',
    },
    malformed,
    unknownKey,
    changedSince,
  },
  handle,
});

/** `DELETE /svc/org/keys/{keyID}`: deletes a key, which can be restored until it is purged. */
async function handle({ request, caller, keys, wildcard, query }: RouteCall): Promise<HTTPResponse> {
  rejectParameters(query);
  const keyID = parseKeyID(wildcard);
  const { key } = await keys.deleteOrgKey(caller, { keyID, ...changeConditions(request) });
  return changeResponse('deleted', keyID, key);
}
