import { actorHeader } from '../../http/actor-header.js';
import type { RouteExample } from '../route.js';

/** Schema of a key hash. */
export const keyHash = {
  type: 'string',
  description: 'Hash of the first identifier of the key, in lower-case hex. It names the key and never changes.',
};
/** Schema of the hash of the identifier of a rotated key. */
export const identifierHash = {
  type: 'string',
  description: 'Hash of `key`; absent when it is `key_hash`, as for every key that was never rotated.',
};
/** Schema of a rotation that runs. */
export const rotation = {
  type: 'object',
  description: 'The rotation that runs; absent when the key has one identifier.',
  required: ['old_key', 'old_identifier_hash', 'retires_at'],
  properties: {
    old_key: { type: 'string', description: 'The identifier before, which is accepted until it retires.' },
    old_identifier_hash: { type: 'string', description: 'Hash of `old_key`.' },
    retires_at: {
      type: 'string',
      format: 'date-time',
      description: 'From this time on, `old_key` is rejected.',
    },
    silence: {
      type: 'integer',
      description:
        '`old_key` retires earlier, when the new identifier was used and it had no request for so many seconds; absent if it retires at `retires_at`.',
    },
  },
};
/** Returns the schema of the keys of a page that cannot be read. */
export const unreadableKeys = (description: string) => ({
  type: 'array',
  description,
  items: {
    type: 'object',
    required: ['key_hash', 'code', 'message'],
    properties: {
      key_hash: { type: 'string', description: 'The hash of the key.' },
      code: { type: 'string', enum: ['INTERNAL'], description: 'The error code.' },
      message: { type: 'string', description: 'The message.' },
    },
  },
});
/** Returns the schema of a 64-bit integer. */
export const int64 = (description: string) => ({ type: 'integer', format: 'int64', description });
/** Schema of a text. */
export const text = { type: 'string' };

/** The parameter `keyID` of a path. */
export const keyID = { name: 'keyID', in: 'path', required: true, description: 'Identifier of the key.', schema: text };
/** The parameter `reset_quota`. */
export const resetQuota = {
  name: 'reset_quota',
  in: 'query',
  description:
    'Resets the live quota: the used count becomes 0, `quota_remaining` becomes `quota_max`, and `quota_renews` becomes the current time plus `quota_renewal_rate` if that is above 0.',
  schema: { type: 'integer', enum: [1] },
};

/** The header `If-Match`. */
export const ifMatch = {
  name: 'If-Match',
  in: 'header',
  description:
    'One or several ETags, of which one must be that of the current version; otherwise the response is 412. Any version matches if the header is absent or `*`.',
  schema: text,
};

/** The header `Idempotency-Key`. */
export const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Key by which the request can be repeated, such as a UUID: within 24 hours, the same request with the same key returns the first result and changes nothing more. 1 to 255 visible ASCII characters.',
  schema: text,
};

/** The header `X-Keyfront-Actor`, of every operation that writes. */
export const actor = {
  name: actorHeader,
  in: 'header',
  description:
    'Whom the change is made for, recorded in the history as asserted by the credential, which needs the scope `actor`. At most 100 printable characters, as UTF-8 in percent-encoding, such as `Ana%20P%C3%A9rez`.',
  schema: text,
};

/** Schema of the warnings of a response. */
export const warnings = {
  type: 'array',
  items: { $ref: '#/components/schemas/Warning' },
  description: 'Possible mistakes in the definition; absent when there are none.',
};

/** Returns the component of the response to a change. */
export const change = (name: string, action: string) => ({
  name,
  members: {
    action: { const: action },
    key: { type: 'string', description: 'The key identifier.' },
    key_hash: keyHash,
    status: { const: 'ok' },
  },
});

/** An invalid identifier. */
export const malformed: RouteExample = {
  summary: 'An identifier with a slash in it',
  parameters: { keyID: 'acme/billing' },
  status: 400,
  response: `
      {
        "status": "error",
        "message": "The key identifier is not valid.",
        "code": "INVALID",
        "issues": [
          { "path": "keyID", "code": "MALFORMED_KEY_ID", "message": "must not hold a slash or a backslash" }
        ],
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
};

/** A key that does not exist. */
export const unknownKey: RouteExample = {
  summary: 'A key that does not exist',
  parameters: { keyID: 'acme-nothing' },
  status: 404,
  response: `
      {
        "status": "error",
        "message": "There is no such key.",
        "code": "NOT_FOUND",
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
};

/** A change whose expected version is stale. */
export const changedSince: RouteExample = {
  summary: 'For version 1 of a key that was changed since',
  parameters: { keyID: 'acme-billing', 'If-Match': '"1"' },
  status: 412,
  response: `
    {
      "status": "error",
      "message": "The key has version 2; the expected version is 1.",
      "code": "CONFLICT",
      "issues": [
        { "path": "quota_max", "code": "CHANGED_SINCE", "message": "has changed since version 1" },
        { "path": "rate", "code": "CHANGED_SINCE", "message": "has changed since version 1" },
        { "path": "quota_remaining", "code": "CHANGED_SINCE", "message": "has changed since version 1" },
        { "path": "quota_renews", "code": "CHANGED_SINCE", "message": "has changed since version 1" },
        { "path": "access_rights", "code": "CHANGED_SINCE", "message": "has changed since version 1" }
      ],
      "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
    }`,
};

/** A definition of an organization other than that of the credential. */
export const otherOrganization: Pick<RouteExample, 'status' | 'response'> = {
  status: 403,
  response: `
    {
      "status": "error",
      "message": "The credential is bound to another organization than the definition names.",
      "code": "FORBIDDEN",
      "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
    }`,
};
