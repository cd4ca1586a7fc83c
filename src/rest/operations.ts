import type { Variant } from '../keys/definition.js';
import { refusals } from '../keys/quota.js';
import { keyStates } from '../keys/state.js';
import type { JSONSchema } from './json-schema.js';
import type { Route } from './routes.js';

/** What the documentation says of an operation that neither its route nor the table of fields knows. */
export interface Operation {
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly JSONSchema[];
  /** The body: a definition of a variant under the name of its schema, or a schema of its own. */
  readonly input?: { readonly name: string; readonly variant?: Variant; readonly schema?: JSONSchema };
  readonly output: { readonly name: string; readonly members: JSONSchema; readonly optional?: JSONSchema };
  readonly success: string;
  /** Whether the answer has the key's version as its `ETag`. */
  readonly isVersioned?: true;
  /** Whether the answer tells in `Quota-Reset` what became of a reset. */
  readonly mayReset?: true;
}

const keyHash = { type: 'string', description: 'Hash of the key identifier, in lower-case hex.' };
const int64 = (description: string) => ({ type: 'integer', format: 'int64', description });
const text = { type: 'string' };

const keyID = { name: 'keyID', in: 'path', required: true, description: 'Identifier of the key.', schema: text };
const ifMatch = {
  name: 'If-Match',
  in: 'header',
  description:
    'The ETag of the version that the change is meant for, or several, of which one must be current; 412 otherwise. Any version if it is absent or `*`.',
  schema: text,
};

const warnings = {
  type: 'array',
  items: { $ref: '#/components/schemas/Warning' },
  description: 'Absent where nothing deserves a second look.',
};

const change = (name: string, action: string) => ({
  name,
  members: {
    action: { const: action },
    key: { type: 'string', description: 'The key identifier.' },
    key_hash: keyHash,
    status: { const: 'ok' },
  },
});

const orgKey = {
  name: 'OrgKey',
  members: {
    key: { type: 'string', description: 'The key identifier.' },
    key_hash: keyHash,
    version: { type: 'integer', description: 'Counts the changes of the key, from 1.' },
    state: { type: 'string', enum: Object.keys(keyStates), description: 'What has become of the key.' },
    data: { $ref: '#/components/schemas/StoredKeyDefinition' },
    quota: {
      type: 'object',
      description: 'The live quota.',
      required: ['used', 'remaining'],
      properties: {
        used: int64('Requests counted in the current period.'),
        remaining: int64('Requests left in the current period; -1 where that is unlimited.'),
        renews_at: int64('When the period ends, in Unix seconds; absent where the quota does not renew.'),
      },
    },
  },
};

const filter = (name: string, description: string, schema: JSONSchema = text) => ({
  name,
  in: 'query',
  description,
  schema,
});

/** Every operation, by the name that its route gives it. */
export const operations: Record<Route['operation'], Operation> = {
  previewKey: {
    summary: 'Validate a key definition',
    description:
      'Checks and normalises a key definition and hashes its identifier, without storing anything. A field that is null counts as left out.',
    parameters: [],
    input: { name: 'PreviewKeyInput', variant: 'preview' },
    output: {
      name: 'KeyPreview',
      members: {
        api_model: { type: 'object', description: 'Always an empty object.' },
        data: { $ref: '#/components/schemas/KeyDefinition' },
        key_hash: keyHash,
        key_id: { type: 'string', description: 'The key identifier that was sent, or a new one.' },
      },
      optional: { warnings },
    },
    success: 'Key definition is valid.',
  },
  updateOrgKey: {
    summary: 'Update an organisation key',
    description:
      'Replaces the definition of a key that exists, and resets its quota where asked to: all in one transaction, or nothing. What is left out or null is gone, except for secrets: those stay until they are replaced, or cleared with null.',
    parameters: [
      keyID,
      {
        name: 'reset_quota',
        in: 'query',
        description:
          'Whether the live quota begins anew: the used count goes to 0, `quota_remaining` to `quota_max`, `quota_renews` to now plus `quota_renewal_rate` where that is above 0.',
        schema: { type: 'integer', enum: [1] },
      },
      ifMatch,
    ],
    input: { name: 'UpdateKeyInput', variant: 'update' },
    output: { ...change('OrgKeyUpdate', 'modified'), optional: { warnings } },
    success: 'OK',
    isVersioned: true,
    mayReset: true,
  },
  createOrgKey: {
    summary: 'Create an organisation key',
    description:
      'Creates a key that does not exist. The definition names its owner in `org_id`, unless the credential is bound to one.',
    parameters: [keyID],
    input: { name: 'UpdateKeyInput', variant: 'update' },
    output: { ...change('OrgKeyCreation', 'added'), optional: { warnings } },
    success: 'OK',
    isVersioned: true,
  },
  deleteOrgKey: {
    summary: 'Delete an organisation key',
    description:
      'Deletes a key. It can be restored for as many days as the service is set to, and is purged after them.',
    parameters: [keyID, ifMatch],
    output: change('OrgKeyDeletion', 'deleted'),
    success: 'OK',
    isVersioned: true,
  },
  restoreOrgKey: {
    summary: 'Restore a deleted organisation key',
    description: 'Puts a deleted key back as it was.',
    parameters: [keyID, ifMatch],
    output: change('OrgKeyRestoration', 'restored'),
    success: 'OK',
    isVersioned: true,
  },
  orgKey: {
    summary: 'Read an organisation key',
    description: 'The definition without its secrets, and the live quota.',
    parameters: [keyID],
    output: orgKey,
    success: 'OK',
    isVersioned: true,
  },
  orgKeys: {
    summary: 'List organisation keys',
    description:
      'A page of keys, by alias with `alias_prefix` and by hash without. All conditions that are given must hold; deleted keys count only where `state` asks for them. A page has fewer keys than `limit`, and a `next`, when they would take more than 2 MiB.',
    parameters: [
      filter('org_id', 'Keys of this organisation.'),
      filter('alias_prefix', 'Keys whose alias begins so; case counts.'),
      filter('tag', 'Keys with this tag.'),
      filter('policy', 'Keys with this policy.'),
      filter('api_id', 'Keys with access to the API of this identifier.'),
      filter('state', 'Keys in this state.', { type: 'string', enum: Object.keys(keyStates) }),
      filter('expires_before', 'Keys that expire before this moment, in Unix seconds.', {
        type: 'integer',
        format: 'int64',
      }),
      filter('updated_since', 'Keys changed at this moment or later, in Unix seconds.', {
        type: 'integer',
        format: 'int64',
      }),
      filter('limit', 'How many keys a page has; 20 where absent.', { type: 'integer', minimum: 1, maximum: 100 }),
      filter('after', 'Only keys after this place: the `next` of the page before.'),
    ],
    output: {
      name: 'OrgKeyList',
      members: {
        keys: { type: 'array', items: { $ref: '#/components/schemas/OrgKey' }, description: 'The keys.' },
      },
      optional: { next: { type: 'string', description: 'The place to go on from; absent on the last page.' } },
    },
    success: 'OK',
  },
  consumeOrgQuota: {
    summary: 'Take requests from the live quota',
    description:
      'For gateways that ask before they let requests pass. Takes all that are asked for, or none. Does not touch the definition or its version.',
    parameters: [keyID],
    input: {
      name: 'QuotaRequest',
      schema: {
        type: 'object',
        description: 'How much to take; the body may be left out for one request.',
        properties: { amount: { ...int64('How many requests, from 1; 1 where absent.'), minimum: 1 } },
        additionalProperties: false,
      },
    },
    output: {
      name: 'QuotaConsumption',
      members: {
        allowed: {
          type: 'boolean',
          description: 'Whether the requests may pass. If so, they are counted; if not, none of them is.',
        },
        used: int64('Requests counted in the current period.'),
        remaining: int64('Requests left in the current period; -1 where that is unlimited.'),
        quota_max: int64('Requests allowed in a period; -1 where that is unlimited.'),
      },
      optional: {
        refusal: {
          type: 'string',
          enum: Object.keys(refusals),
          description: 'Why the requests may not pass; absent where they may.',
        },
        renews_at: int64('When the period ends, in Unix seconds; absent where the quota does not renew.'),
      },
    },
    success: 'OK',
  },
};
