import { readDefinition } from '../keys/definition-input.js';
import { withSecrets } from '../keys/normal-form.js';
import { inWireNames, readJSONBody, warningsMember } from './body.js';
import { jsonResponse } from './errors.js';
import { noParameters } from './parameters.js';
import type { Call } from './routes.js';
import { definitionFromWire, definitionToWire } from './wire.js';

/** `POST /api/keys/preview`: the definition as it would be stored. Echoes what was sent, less the password. */
export async function preview({ request, caller, keys, query }: Call): Promise<Response> {
  noParameters(query);
  const body = await readJSONBody(request);
  return inWireNames(body, () => {
    const input = readDefinition('preview', definitionFromWire(body));
    const { keyID, keyHash, definition, secrets, warnings } = keys.preview(caller, input);
    const { password, ...echoed } = secrets;
    return jsonResponse({
      api_model: {},
      data: definitionToWire(withSecrets(definition, echoed)),
      key_hash: keyHash,
      key_id: keyID,
      ...warningsMember(warnings, body),
    });
  });
}
