import { readDefinition } from '../keys/definition-input.js';
import { inWireNames, readJSONBody, warningsMember } from './body.js';
import { jsonResponse } from './errors.js';
import { expectedVersionsFrom, keyIDFrom, resetQuotaFrom } from './parameters.js';
import type { Call } from './routes.js';
import { definitionFromWire } from './wire.js';

/** Tells what became of a reset that was asked for: applied or pending. */
export const resetHeader = 'quota-reset';

/** `PUT /svc/org/keys/{keyID}`: replaces the definition of a key that exists. The `ETag` is the key's new version. */
export async function updateOrgKey({ request, caller, keys, wildcard, query }: Call): Promise<Response> {
  const keyID = keyIDFrom(wildcard);
  const resetQuota = resetQuotaFrom(query);
  const expectedVersion = expectedVersionsFrom(request.headers.get('if-match'));
  const body = await readJSONBody(request);
  return inWireNames(body, async () => {
    const input = readDefinition('update', definitionFromWire(body));
    const { key, warnings, quotaReset } = await keys.updateOrgKey(caller, {
      keyID,
      input,
      resetQuota,
      expectedVersion,
    });
    const answer = {
      action: 'modified',
      key: keyID,
      key_hash: key.keyHash,
      status: 'ok',
      ...warningsMember(warnings, body),
    };
    // The contract says of the body all that it holds.
    const reset = quotaReset && { [resetHeader]: quotaReset.toLowerCase() };
    return jsonResponse(answer, 200, { etag: `"${key.version}"`, ...reset });
  });
}
