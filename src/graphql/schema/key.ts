import type { DefaultConnectionArguments } from '@pothos/plugin-relay';
import { requireScope } from '../../keys/authorization.js';
import { viewOfStored } from '../../keys/definition/view.js';
import { keyStates, type KeyRevision, type KeyState, type StoredKey } from '../../keys/key.js';
import type { HistoryRequest } from '../../keys/key-query.js';
import type { Context } from '../context.js';
import { builder } from './builder.js';
import { KeyDefinition } from './definition.js';
import { decodeVersionCursor, KeyHistoryEntry } from './history.js';
import { KeyNoticeType } from './notice.js';
import { Organization } from './organization.js';
import { readConnectionPage } from './pagination.js';
import { KeyQuota } from './quota.js';
import { dateTimeOf } from './scalars.js';
import { enumValuesOf } from './types-from-zod.js';

export const KeyStateType = builder.enumType('OrgKeyState', {
  description: 'State of a key: whether it can be used, and if not, why.',
  values: enumValuesOf<KeyState>(keyStates),
});

/** A stored key. Its fields are added below. */
export const OrgKey = builder.objectRef<StoredKey>('OrgKey');

builder.node(OrgKey, {
  description:
    'A key of an organization: its definition, live quota and history, all as of its `version`. A quota counter in Redis is read after the key and may include later requests.',
  id: {
    resolve: ({ keyHash }) => keyHash,
    description: 'Global identifier of the key, for `Query.node`. Opaque; not the key identifier.',
  },
  brandLoadedObjects: true,
  loadWithoutCache: (keyHash, { loaders }) => loaders.orgKeys.load(keyHash),
  fields: (t) => ({
    keyHash: t.exposeString('keyHash', {
      description:
        'Hash of the first identifier of the key in lower-case hex: SHA-256 unless configured otherwise. It names the key in logs, events and the history, and never changes: after `rotateOrgKey`, the hash of the new identifier is in `identifierHash`.',
    }),
    keyID: t.id({
      extensions: { isSensitive: true },
      nullable: true,
      description:
        'The key identifier, used by gateways and by all operations on keys. It can itself be a token: do not log it. Null for a key of which only the hash is known.',
      resolve: (key, _, { keys }) => keys.keyIDOf(key),
    }),
    orgID: t.exposeString('orgID', {
      extensions: { isShareable: true },
      description: 'Identifier of the organization that owns the key.',
    }),
    organization: t.field({
      type: Organization,
      nullable: true,
      description:
        'The organization that owns the key. In a supergraph, null if the subgraph that owns organizations does not know it.',
      resolve: ({ orgID }, _, { serviceCaller }) => {
        // A caller that may only change keys reaches this field through the result of its change.
        requireScope(serviceCaller(), 'read');
        return { orgID };
      },
    }),
    version: t.exposeInt('version', {
      description:
        'Version of the key: 1 at first, increased by each change. Send it as `expectedVersion` to change the key only if it has not changed since.',
    }),
    state: t.field({
      type: KeyStateType,
      description: 'Whether the key can be used now, and if not, why.',
      resolve: (key, _, { keys }) => keys.stateOf(key),
    }),
    createdAt: t.expose('dateCreated', {
      type: 'KeyDateTime',
      description: 'When the key was created, in Keyfront or in the system that it was imported from.',
    }),
    updatedAt: t.field({
      type: 'KeyDateTime',
      nullable: true,
      description:
        'When the key was last changed, to the second. Strictly increasing, so it can be ahead of the clock. Null if an imported time is after the year 9999.',
      resolve: ({ lastUpdated }) => dateTimeOf(lastUpdated),
    }),
    deletedAt: t.field({
      type: 'KeyDateTime',
      nullable: true,
      description: 'When the key was deleted. Null if it is not deleted.',
      resolve: ({ deleted }) => deleted?.toISOString(),
    }),
    restorableUntil: t.field({
      type: 'KeyDateTime',
      nullable: true,
      description:
        'Until when the deleted key can be restored. Soon after, it is removed with its history. Null if it is not deleted.',
      resolve: (key, _, { keys }) => keys.restorableUntil(key)?.toISOString(),
    }),
    definition: t.field({
      type: KeyDefinition,
      nullable: true,
      description:
        'The definition in normal form. Secrets are returned as set or not set. Null with an error if it cannot be read.',
      resolve: viewOfStored,
    }),
    quota: t.field({
      type: KeyQuota,
      nullable: true,
      description:
        'The live quota at this moment. Null if its counter is in Redis and could not be read; the error is UNAVAILABLE.',
      resolve: (key, _, { keys, loaders }) => keys.quotaOf(key) ?? loaders.quotas.load(key),
    }),
    notices: t.field({
      type: [KeyNoticeType],
      nullable: true,
      description:
        'The newest 20 notices about the key, newest first: that it expires, uses up its quota. Kept for 90 days. Null with an error if they cannot be read.',
      resolve: (key, _, { loaders, serviceCaller }) => {
        requireScope(serviceCaller(), 'read');
        return loaders.notices.load(key);
      },
    }),
    history: t.connection(
      {
        type: KeyHistoryEntry,
        nullable: true,
        description:
          'The changes of the key up to its `version`, oldest first: `last: 5` returns the five newest. Null with an error if they cannot be read. Errors: NOT_FOUND if the key was purged during the request.',
        resolve: readHistoryPage,
      },
      { name: 'KeyHistoryEntryConnection', description: 'A page of the history of a key.' },
      { name: 'KeyHistoryEntryEdge', description: 'A change of a key and its cursor.' },
    ),
  }),
});

export const OrgKeyByInput = builder.inputType('OrgKeyByInput', {
  isOneOf: true,
  description: 'Selects a key. Exactly one field must be given.',
  fields: (t) => ({
    keyID: t.id({ description: 'Identifier of the key. Example: acme-billing.' }),
    keyHash: t.string({ description: 'Hash of the key, as in `OrgKey.keyHash`, or of an identifier of it.' }),
  }),
});

builder.queryField('orgKey', (t) =>
  t.field({
    type: OrgKey,
    nullable: true,
    description:
      'Fetches a key by its identifier or by its hash. Null if it does not exist, is deleted (unless `includeDeleted` is true), or belongs to an organization that the credential cannot see. Requires a service credential.',
    credential: 'service',
    args: {
      by: t.arg({ type: OrgKeyByInput, required: true, description: 'The identifier or the hash of the key.' }),
      includeDeleted: t.arg.boolean({
        defaultValue: false,
        description: 'Whether to find a deleted key too, until it is purged.',
      }),
    },
    resolve: async (caller, { by: { keyID, keyHash }, includeDeleted }, { keys, loaders }) => {
      if (includeDeleted === true) {
        return keys.orgKey(caller, keyID === undefined ? { keyHash } : { keyID }, { includeDeleted });
      }
      if (keyID === undefined) return loaders.orgKeys.load(keyHash);
      const hash = keys.keyHashOf(caller, keyID);
      const key = await loaders.orgKeys.load(hash);
      // The first identifier of the key may have retired, whose hash still names the key.
      return key && keys.hasIdentifier(key, hash) ? key : undefined;
    },
  }),
);

/** Reads a page of the history of a key. Each version up to that of the key has one entry, so the flags are exact. */
function readHistoryPage(key: StoredKey, args: DefaultConnectionArguments, { loaders, serviceCaller }: Context) {
  requireScope(serviceCaller(), 'read');
  return readConnectionPage<KeyRevision>(args, async ({ before, after, limit, inverted }) => {
    const range = rangeOf(before, after);
    const revisions = await loaders.histories.load({
      key,
      range: { ...range, limit, ...(inverted && { last: true }) },
    });
    const entries = inverted ? revisions.toReversed() : revisions;
    return {
      items: entries.map((entry) => ({ cursor: String(entry.versionAfter), node: entry })),
      flags: (shown) => {
        // An empty page is between two versions.
        const below = inverted ? Math.min((range.before ?? Infinity) - 1, key.version) : (range.after ?? 0);
        return {
          hasPreviousPage: Number(shown.at(0)?.cursor ?? below + 1) > 1,
          hasNextPage: Number(shown.at(-1)?.cursor ?? below) < key.version,
        };
      },
    };
  });
}

function rangeOf(before: string | undefined, after: string | undefined): HistoryRequest['range'] {
  return {
    ...(before !== undefined && { before: decodeVersionCursor(before, 'before') }),
    ...(after !== undefined && { after: decodeVersionCursor(after, 'after') }),
  };
}
