import { maxDelivered, type DeliveredItem, type DeliveredKey, type DeliveredPage } from '../../keys/deliver.js';
import { nameCursors } from '../../wire/list-cursor.js';
import { definitionToWire } from '../../wire/field-names.js';
import { builder } from './builder.js';
import { KeyStateType, OrgKeyByInput } from './key.js';
import { requireFirst } from './pagination.js';
import { KeyRotation } from './rotation.js';

export const DeliveredKeyType = builder.objectRef<DeliveredKey>('DeliveredKey').implement({
  description:
    'A key with what a gateway needs to decide by a copy of its own. Contains secrets: do not log it. Only credentials with the scope `deliver` read it, and each read is in the audit log.',
  fields: (t) => ({
    keyHash: t.exposeString('keyHash', {
      description: 'Hash of the first identifier of the key. It names the key in all events and never changes.',
    }),
    keyID: t.exposeID('keyID', {
      extensions: { isSensitive: true },
      nullable: true,
      description: 'The key identifier. Null for a key of which only the hash is known.',
    }),
    identifierHash: t.exposeString('identifierHash', {
      description: 'Hash of the identifier. The same as `keyHash` until the key is rotated.',
    }),
    rotation: t.field({
      type: KeyRotation,
      nullable: true,
      description:
        'The rotation that runs, with the identifier that is accepted too. Null if the key has one identifier.',
      resolve: ({ rotation }) => rotation,
    }),
    orgID: t.exposeString('orgID', { description: 'Identifier of the organization that owns the key.' }),
    version: t.exposeInt('version', { description: 'Version of the key, increased by each change.' }),
    state: t.expose('state', { type: KeyStateType, description: 'Whether the key can be used now, and if not, why.' }),
    data: t.field({
      type: 'JSONObject',
      extensions: { isSensitive: true },
      description:
        'The definition in the names of the REST API, as in an export with secrets: `basic_auth_data.password` is the hash of the password, of the type in `hash_type`; `jwt_data.secret` and `hmac_string` are in clear.',
      resolve: ({ definition }) => definitionToWire(definition),
    }),
  }),
});

/** The key of an item. @throws {AppError} INTERNAL when it cannot be read. */
function requireDelivered({ key }: DeliveredItem): DeliveredKey {
  if (key instanceof Error) throw key;
  return key;
}

const DeliveredKeyItem = builder.objectRef<DeliveredItem>('DeliveredKeyItem').implement({
  description: 'A key of a page.',
  fields: (t) => ({
    keyHash: t.exposeString('keyHash', {
      description: 'Hash of the key, also of one that cannot be read. Keep your copy of such a key.',
    }),
    key: t.field({
      type: DeliveredKeyType,
      nullable: true,
      description:
        'The key. Null with the error INTERNAL if its row fails its integrity check, or one of its secrets cannot be opened.',
      resolve: requireDelivered,
    }),
  }),
});

const DeliveredKeyPage = builder.objectRef<DeliveredPage>('DeliveredKeyPage').implement({
  description: 'A page of keys, ordered by hash.',
  fields: (t) => ({
    items: t.field({
      type: [DeliveredKeyItem],
      description: `The keys; at most ${maxDelivered}, and fewer if they are large.`,
      resolve: ({ items }) => [...items],
    }),
    endCursor: t.string({
      nullable: true,
      description: 'Cursor of the last key, for `after`. Null if there is no key.',
      resolve: ({ items }) => endCursorOf(items),
    }),
    hasNextPage: t.exposeBoolean('hasMore', { description: 'Whether there are keys after these.' }),
  }),
});

function endCursorOf(items: readonly DeliveredItem[]): string | undefined {
  const last = items.at(-1);
  return last && nameCursors.encode(last.keyHash);
}

const purpose = 'for an adapter that keeps a copy of the keys in a gateway (docs/deliver-keys.md)';
const needs = 'Requires a service credential whose scope `deliver` was named. Not in the subgraph.';

builder.queryField('deliverKey', (t) =>
  t.field({
    type: DeliveredKeyType,
    nullable: true,
    extensions: { isOutsideSubgraph: true },
    description: `Fetches a key with its identifier, its password hash and its secrets, ${purpose}. Null if it does not exist, is deleted, or belongs to an organization that the credential cannot see: remove your copy then. ${needs} Errors: INTERNAL if one of its secrets cannot be opened.`,
    credential: 'service',
    args: {
      by: t.arg({ type: OrgKeyByInput, required: true, description: 'The identifier or the hash of the key.' }),
    },
    resolve: (caller, { by: { keyID, keyHash } }, { keys }) =>
      keys.deliverKey(caller, keyID === undefined ? { keyHash } : { keyID }),
  }),
);

builder.queryField('deliverKeys', (t) =>
  t.field({
    type: DeliveredKeyPage,
    nullable: true,
    extensions: { isOutsideSubgraph: true, pageSizes: { defaultSize: maxDelivered, maxSize: maxDelivered } },
    description: `Lists the keys that are not deleted with their identifiers, password hashes and secrets, ${purpose}. ${needs} Null if an error is returned. Errors: INVALID if \`first\` is below 1 or \`after\` is no cursor of this list.`,
    credential: 'service',
    args: {
      orgID: t.arg.string({
        description: 'Keys of this organization. Default: all that the credential can see. Example: acme.',
      }),
      first: t.arg.int({
        description: `Number of keys, at least 1; values above ${maxDelivered}, the default, are capped.`,
      }),
      after: t.arg.string({ description: 'Keys after this cursor, the `endCursor` of the page before.' }),
    },
    resolve: async (caller, args, { keys }) => {
      const orgID = args.orgID ?? undefined;
      requireFirst(args.first);
      const afterHash = typeof args.after === 'string' ? nameCursors.decode(args.after, 'after') : undefined;
      return keys.deliverKeys(caller, { orgID, afterHash, limit: Math.min(args.first ?? maxDelivered, maxDelivered) });
    },
  }),
);
