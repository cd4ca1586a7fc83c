import { changeResponse } from '../key-response.js';
import { changeConditions, parseKeyID, rejectParameters } from '../parameters.js';
import { defineRoute, type RouteCall } from '../route.js';
import { change, changedSince, idempotencyKey, ifMatch, keyID, malformed, unknownKey } from './shared-docs.js';
import type { HTTPResponse } from '../../http/response.js';

export const cancelKeyRotation = defineRoute({
  operation: 'cancelKeyRotation',
  method: 'POST',
  path: '/svc/org/keys/*/cancel-rotation',
  credential: 'service',
  errors: ['NOT_FOUND', 'CONFLICT'],
  tag: 'Keys',
  summary: 'Cancel the rotation of an organization key',
  description:
    'The old identifier, which `key` of the response is, stays. The new one is rejected at once, also if clients use it already. `keyID` is either of both.',
  parameters: [keyID, ifMatch, idempotencyKey],
  output: change('OrgKeyRotationCancellation', 'rotation_canceled'),
  success: 'OK',
  isVersioned: true,
  examples: {
    cancel: {
      summary: 'A key that was rotated',
      parameters: { keyID: 'acme-mobile', 'If-Match': '*' },
      status: 200,
      response: `
        {
          "action": "rotation_canceled",
          "key": "acme-mobile",
          "key_hash": "5429b7fdb3b24431f2ae6f4ea5409c557275077bca58dfc6cdc6445e29871e9e",
          "status": "ok"
        }`,
      etag: '"3"',
    },
    malformed,
    unknownKey,
    changedSince,
    noRotation: {
      summary: 'A key of which no rotation runs',
      parameters: { keyID: 'acme-billing' },
      status: 409,
      response: `
        {
          "status": "error",
          "message": "No rotation of the key runs.",
          "code": "CONFLICT",
          "issues": [{ "path": "rotation", "code": "NO_ROTATION", "message": "does not run" }],
          "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
        }`,
    },
  },
  handle,
});

/** `POST /svc/org/keys/{keyID}/cancel-rotation`: ends a rotation, and keeps the old identifier. */
async function handle({ request, caller, keys, wildcard, query }: RouteCall): Promise<HTTPResponse> {
  rejectParameters(query);
  const keyID = parseKeyID(wildcard);
  const { key } = await keys.cancelKeyRotation(caller, { keyID, ...changeConditions(request) });
  return changeResponse('rotation_canceled', keys.keyIDOf(key), key);
}
