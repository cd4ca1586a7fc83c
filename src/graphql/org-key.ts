import { resolveCursorConnection } from '@pothos/plugin-relay';
import { AppError } from '../errors.js';
import { keyStates, type KeyState } from '../keys/state.js';
import { operations, type AuditEntry, type Operation, type StoredKey } from '../keys/store.js';
import { viewOfStored } from '../keys/view.js';
import { builder } from './builder.js';
import { callerOf } from './context.js';
import { describedEnum } from './derive.js';
import { FieldChange } from './key-change.js';
import { KeyDefinition } from './key-definition.js';
import { versionOfCursor } from './cursor.js';
import { Organization } from './organization.js';
import { pageSizes, placed } from './paging.js';
import { Quota } from './quota.js';

export const KeyStateType = builder.enumType('KeyState', {
  description: 'What can become of a key.',
  values: describedEnum<KeyState>(keyStates),
});

const OperationType = builder.enumType('KeyOperation', {
  description: 'What was done to a key.',
  values: describedEnum<Operation>(operations),
});

const HistoryEntry = builder.objectRef<AuditEntry>('HistoryEntry').implement({
  description: 'One change in the life of a key: who, when, what and why. Entries are never changed.',
  fields: (t) => ({
    version: t.exposeInt('versionAfter', { description: 'The version that the change led to.' }),
    at: t.field({ type: 'DateTime', description: 'When it was done.', resolve: ({ at }) => at.toISOString() }),
    operation: t.expose('operation', { type: OperationType, description: 'What was done.' }),
    credentialID: t.string({
      description: 'Identifier of the credential it was done with; `cli` for the command line.',
      resolve: ({ actor }) => actor.credentialID,
    }),
    credentialLabel: t.string({ description: 'Label of that credential.', resolve: ({ actor }) => actor.label }),
    reason: t.string({
      nullable: true,
      description: 'Why, where a reason was given.',
      resolve: ({ reason }) => reason,
    }),
    requestID: t.string({
      nullable: true,
      description: 'The request it was done by, as the log knows it; null for the command line.',
      resolve: ({ requestID }) => requestID || null,
    }),
    quotaUsedBeforeReset: t.field({
      type: 'Int64',
      nullable: true,
      description: 'Requests that had been used when the quota was reset; null where it was not.',
      resolve: ({ quotaUsedBeforeReset }) => quotaUsedBeforeReset,
    }),
    changes: t.field({
      type: [FieldChange],
      description: 'The fields that differ from the version before.',
      resolve: ({ changes }) => [...changes],
    }),
  }),
});

export const OrgKey = builder.objectRef<StoredKey>('OrgKey');

builder.node(OrgKey, {
  description: 'A key of an organisation: its definition, its live quota and its history.',
  id: {
    resolve: ({ keyHash }) => keyHash,
    description: 'Identifier of the key in this graph, for `node`.',
  },
  brandLoadedObjects: true,
  loadWithoutCache: (keyHash, context) => context.keys.orgKey(callerOf(context, 'service'), { keyHash }),
  fields: (t) => ({
    keyHash: t.exposeString('keyHash', { description: 'Hash of the key identifier, in lower-case hex.' }),
    keyID: t.id({
      description: 'The key identifier. It may be a token itself: do not log it.',
      resolve: (key, _, { keys }) => keys.keyIDOf(key),
    }),
    orgID: t.exposeString('orgID', { description: 'Identifier of the owning organisation.' }),
    organization: t.field({
      type: Organization,
      nullable: true,
      description:
        'The owning organisation. Null where a graph that knows organisations knows none of this identifier.',
      resolve: ({ orgID }) => ({ orgID }),
    }),
    version: t.exposeInt('version', {
      description: 'Counts the changes of the key, from 1. Send it as `expectedVersion`.',
    }),
    state: t.field({
      type: KeyStateType,
      description: 'What has become of the key.',
      resolve: (key, _, { keys }) => keys.stateOf(key),
    }),
    dateCreated: t.expose('dateCreated', { type: 'DateTime', description: 'When the key was created.' }),
    lastUpdated: t.expose('lastUpdated', {
      type: 'Int64',
      description: 'When the key was last changed, in Unix seconds; strictly increasing.',
    }),
    deletedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the key was deleted; null where it is not.',
      resolve: ({ deleted }) => deleted?.toISOString(),
    }),
    definition: t.field({
      type: KeyDefinition,
      description: 'The definition, without its secrets.',
      resolve: viewOfStored,
    }),
    quota: t.field({ type: Quota, description: 'The live quota.', resolve: (key, _, { keys }) => keys.quotaOf(key) }),
    history: t.connection(
      {
        type: HistoryEntry,
        description:
          'What has been done to the key, oldest first; ask for the `last` few to see the newest. At most 100 a page.',
        resolve: async (key, args, { keys }) =>
          placed(
            await resolveCursorConnection<Promise<AuditEntry[]>>(
              { args, ...pageSizes, toCursor: ({ versionAfter }) => String(versionAfter) },
              async ({ before, after, limit, inverted }) =>
                inverted
                  ? (await keys.history(key, { ...range(before, after), last: true, limit })).reverse()
                  : keys.history(key, { ...range(before, after), limit }),
            ),
          ),
      },
      { name: 'HistoryEntryConnection', description: 'A page of a history.' },
      { name: 'HistoryEntryEdge', description: 'A change in its place in the history.' },
    ),
  }),
});

function range(before: string | undefined, after: string | undefined) {
  return {
    ...(before !== undefined && { before: versionOfCursor(before, 'before') }),
    ...(after !== undefined && { after: versionOfCursor(after, 'after') }),
  };
}

builder.queryField('orgKey', (t) =>
  t.field({
    type: OrgKey,
    nullable: true,
    description:
      'A key by its identifier or by the identifier’s hash; null where there is none, or it is deleted, or another organisation’s. Needs a service credential. Errors: INVALID where not exactly one of the two is given.',
    extensions: { credential: 'service' },
    args: {
      keyID: t.arg.id({ description: 'Identifier of the key.' }),
      keyHash: t.arg.string({ description: 'Hash of the identifier.' }),
    },
    resolve: (_, { keyID, keyHash }, context) =>
      context.keys.orgKey(callerOf(context, 'service'), referenceOf(keyID, keyHash)),
  }),
);

function referenceOf(keyID: string | number | null | undefined, keyHash: string | null | undefined) {
  if (keyID !== null && keyID !== undefined && typeof keyHash !== 'string') return { keyID: String(keyID) };
  if (typeof keyHash === 'string' && (keyID === null || keyID === undefined)) return { keyHash };
  throw new AppError('INVALID', 'Give either `keyID` or `keyHash`.');
}
