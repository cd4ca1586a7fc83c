import { AppError } from '../../lib/errors.js';
import {
  keyStates,
  type KeyState,
  type StoredKey,
  operations,
  type KeyRevision,
  type Operation,
} from '../../keys/key.js';
import { viewOfStored } from '../../keys/definition/view.js';
import { builder } from '../schema/builder.js';
import { callerOf } from '../context.js';
import { describedEnum } from '../schema/types-from-zod.js';
import { FieldChange } from './field-change.js';
import { KeyDefinition } from './key-definition.js';
import { versionOfCursor } from '../schema/cursor.js';
import { Organization } from './organization.js';
import { connectionPage } from '../schema/pagination.js';
import { Quota } from './quota.js';

export const KeyStateType = builder.enumType('KeyState', {
  description: 'Whether a key may be used, and if not, why.',
  values: describedEnum<KeyState>(keyStates),
});

const OperationType = builder.enumType('KeyOperation', {
  description: 'What was done to a key.',
  values: describedEnum<Operation>(operations),
});

export const HistoryEntry = builder.objectRef<KeyRevision>('HistoryEntry').implement({
  description: 'One change in the life of a key: who, when, what and why. Entries are never changed.',
  fields: (t) => ({
    version: t.exposeInt('versionAfter', { description: 'The version of the key that the change led to.' }),
    at: t.field({
      type: 'DateTime',
      description: 'When it was done, by the clock of the service.',
      resolve: ({ at }) => at.toISOString(),
    }),
    operation: t.expose('operation', { type: OperationType, description: 'What was done to the key.' }),
    credentialID: t.string({
      description: 'Identifier of the credential it was done with; `cli` for the command line.',
      resolve: ({ actor }) => actor.credentialID,
    }),
    credentialLabel: t.string({
      description: 'Label of that credential, as it was then.',
      resolve: ({ actor }) => actor.label,
    }),
    reason: t.string({
      nullable: true,
      description: 'Why, in the words of whoever did it; null where no reason was given.',
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
      description:
        'Requests that had been used of the quota when it was reset; null where it was not, or where that could not be read. Of counters in Redis it is what was read just before.',
      resolve: ({ quotaUsedBeforeReset }) => quotaUsedBeforeReset,
    }),
    changes: t.field({
      type: [FieldChange],
      description: 'The fields that differ from the version before, as paths and values; empty where none does.',
      resolve: ({ changes }) => [...changes],
    }),
  }),
});

export const OrgKey = builder.objectRef<StoredKey>('OrgKey');

builder.node(OrgKey, {
  description:
    'A key of an organisation: its definition, its live quota and its history, all as of its `version`. A counter in Redis is read after the key, and may include later requests.',
  id: {
    resolve: ({ keyHash }) => keyHash,
    description: 'Identifier of the key in this graph, for `Query.node`. Opaque, and not the key identifier.',
  },
  brandLoadedObjects: true,
  loadWithoutCache: (keyHash, context) => context.keys.orgKey(callerOf(context, 'service'), { keyHash }),
  fields: (t) => ({
    keyHash: t.exposeString('keyHash', {
      description:
        'Hash of the key identifier, in lower-case hex: SHA-256, unless the service is set to another. Logs name the key by it.',
    }),
    keyID: t.id({
      description:
        'The key identifier, which the gateway and all operations on keys know it by. It may be a token itself: do not log it.',
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
      description:
        'Counts the changes of the key, from 1. Send it as `expectedVersion` to change what you have seen, and nothing newer.',
    }),
    state: t.field({
      type: KeyStateType,
      description: 'Whether the key may be used now, and if not, why.',
      resolve: (key, _, { keys }) => keys.stateOf(key),
    }),
    dateCreated: t.expose('dateCreated', {
      type: 'DateTime',
      description: 'When the key was created, here or where it was imported from.',
    }),
    lastUpdated: t.expose('lastUpdated', {
      type: 'Int64',
      description:
        'When the key was last changed, in Unix seconds. Strictly increasing, so that it may run ahead of the clock. Example: 1769860800.',
    }),
    deletedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the key was deleted; null where it is not deleted.',
      resolve: ({ deleted }) => deleted?.toISOString(),
    }),
    definition: t.field({
      type: KeyDefinition,
      description: 'The definition in its normal form; secrets show as set or not set.',
      resolve: viewOfStored,
    }),
    quota: t.field({
      type: Quota,
      nullable: true,
      description:
        'The live quota, at this moment. Null where its counter stands elsewhere and cannot be reached, with UNAVAILABLE among the errors.',
      resolve: (key, _, { keys, loaders }) => keys.quotaOf(key) ?? loaders.quotas.load(key),
    }),
    history: t.connection(
      {
        type: HistoryEntry,
        description:
          'The changes of the key up to its `version`, the oldest first; `last: 5` returns the newest five. Error: NOT_FOUND when the key was purged while it was read.',
        resolve: (key, args, { keys, reads }) =>
          connectionPage<KeyRevision>(
            args,
            ({ versionAfter }) => String(versionAfter),
            async ({ before, after, limit, inverted }) =>
              inverted
                ? (await keys.history(key, { ...range(before, after), last: true, limit }, reads)).reverse()
                : keys.history(key, { ...range(before, after), limit }, reads),
          ),
      },
      { name: 'HistoryEntryConnection', description: 'A page of the history of a key.' },
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
      keyID: t.arg.id({ description: 'Identifier of the key; not beside `keyHash`.' }),
      keyHash: t.arg.string({ description: 'Hash of the identifier, as `keyHash` of a key; not beside `keyID`.' }),
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
