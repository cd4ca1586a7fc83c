import { inWireNames } from '../json-body.js';
import { changed } from '../key-response.js';
import { expectedVersionsFrom, keyIDFrom, noParameters } from '../parameters.js';
import { defineRoute, type Call } from '../route.js';
import { change, changedSince, ifMatch, keyID, malformed, unknownKey } from './shared-docs.js';
import type { HTTPResponse } from '../../http/response.js';

export const deleteOrgKey = defineRoute({
  operation: 'deleteOrgKey',
  method: 'DELETE',
  path: '/svc/org/keys/*',
  credential: 'service',
  errors: ['NOT_FOUND', 'CONFLICT'],
  tag: 'Keys',
  summary: 'Delete an organisation key',
  description: 'Deletes a key. It can be restored for as many days as the service is set to, and is purged after them.',
  parameters: [keyID, ifMatch],
  output: change('OrgKeyDeletion', 'deleted'),
  success: 'OK',
  isVersioned: true,
  examples: {
    delete: {
      summary: 'A key of any version',
      parameters: { keyID: 'acme-mobile', 'If-Match': '*' },
      status: 200,
      answer: `
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
  answer,
});

/** `DELETE /svc/org/keys/{keyID}`: deletes a key, which can be restored for a while. */
async function answer({ request, caller, keys, wildcard, query }: Call): Promise<HTTPResponse> {
  noParameters(query);
  const keyID = keyIDFrom(wildcard);
  const expectedVersion = expectedVersionsFrom(request.headers.get('if-match'));
  const { key } = await inWireNames(null, () => keys.deleteOrgKey(caller, keyID, { expectedVersion }));
  return changed('deleted', keyID, key);
}
