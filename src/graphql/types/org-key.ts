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
  description: 'State of a key: whether it can be used, and if not, why.',
  values: describedEnum<KeyState>(keyStates),
});

const OperationType = builder.enumType('KeyOperation', {
  description: 'An operation that changed a key.',
  values: describedEnum<Operation>(operations),
});

export const HistoryEntry = builder.objectRef<KeyRevision>('HistoryEntry').implement({
  description:
    'One change of a key: when, by which credential, what and why. Entries are immutable; a purge removes them with the key.',
  fields: (t) => ({
    version: t.exposeInt('versionAfter', { description: 'Version of the key after the change.' }),
    at: t.field({
      type: 'DateTime',
      description: 'When the change was made, by the clock of the service.',
      resolve: ({ at }) => at.toISOString(),
    }),
    operation: t.expose('operation', { type: OperationType, description: 'The operation that changed the key.' }),
    credentialID: t.string({
      description: 'Identifier of the credential that made the change; `cli` for the command line.',
      resolve: ({ actor }) => actor.credentialID,
    }),
    credentialLabel: t.string({
      description: 'Label of that credential at the time of the change.',
      resolve: ({ actor }) => actor.label,
    }),
    reason: t.string({
      nullable: true,
      description: 'The reason given for the change. Null if none was given.',
      resolve: ({ reason }) => reason,
    }),
    requestID: t.string({
      nullable: true,
      description: 'Identifier of the request, as in the log. Null for the command line.',
      resolve: ({ requestID }) => requestID || null,
    }),
    quotaUsedBeforeReset: t.field({
      type: 'Int64',
      nullable: true,
      description:
        'Requests used of the quota before the reset. Null if the change did not reset the quota, or if the counter could not be read. With counters in Redis, read just before the reset.',
      resolve: ({ quotaUsedBeforeReset }) => quotaUsedBeforeReset,
    }),
    changes: t.field({
      type: [FieldChange],
      description: 'The fields that differ from the previous version; empty if none do.',
      resolve: ({ changes }) => [...changes],
    }),
  }),
});

export const OrgKey = builder.objectRef<StoredKey>('OrgKey');

builder.node(OrgKey, {
  description:
    'A key of an organisation: its definition, live quota and history, all as of its `version`. A quota counter in Redis is read after the key and may include later requests.',
  id: {
    resolve: ({ keyHash }) => keyHash,
    description: 'Global identifier of the key, for `Query.node`. Opaque; not the key identifier.',
  },
  brandLoadedObjects: true,
  loadWithoutCache: (keyHash, context) => context.keys.orgKey(callerOf(context, 'service'), { keyHash }),
  fields: (t) => ({
    keyHash: t.exposeString('keyHash', {
      description:
        'Hash of the key identifier in lower-case hex: SHA-256 unless configured otherwise. Logs identify the key by it.',
    }),
    keyID: t.id({
      description:
        'The key identifier, used by gateways and by all operations on keys. It can itself be a token: do not log it.',
      resolve: (key, _, { keys }) => keys.keyIDOf(key),
    }),
    orgID: t.exposeString('orgID', { description: 'Identifier of the organisation that owns the key.' }),
    organization: t.field({
      type: Organization,
      nullable: true,
      description:
        'The organisation that owns the key. In a supergraph, null if the subgraph that owns organisations does not know it.',
      resolve: ({ orgID }) => ({ orgID }),
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
    dateCreated: t.expose('dateCreated', {
      type: 'DateTime',
      description: 'When the key was created, in Keyfront or in the system that it was imported from.',
    }),
    lastUpdated: t.expose('lastUpdated', {
      type: 'Int64',
      description:
        'When the key was last changed, in Unix seconds. Strictly increasing, so it can be ahead of the clock. Example: 1769860800.',
    }),
    deletedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the key was deleted. Null if it is not deleted.',
      resolve: ({ deleted }) => deleted?.toISOString(),
    }),
    definition: t.field({
      type: KeyDefinition,
      description: 'The definition in normal form. Secrets are returned as set or not set.',
      resolve: viewOfStored,
    }),
    quota: t.field({
      type: Quota,
      nullable: true,
      description:
        'The live quota at this moment. Null if its counter is in Redis and could not be read; the error is UNAVAILABLE.',
      resolve: (key, _, { keys, loaders }) => keys.quotaOf(key) ?? loaders.quotas.load(key),
    }),
    history: t.connection(
      {
        type: HistoryEntry,
        description:
          'The changes of the key up to its `version`, oldest first: `last: 5` returns the five newest. Errors: NOT_FOUND if the key was purged during the request.',
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
      { name: 'HistoryEntryEdge', description: 'A change of a key and its cursor.' },
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
      'Fetches a key by its identifier or by its hash. Null if it does not exist, is deleted, or belongs to an organisation that the credential cannot see. Requires a service credential. Errors: INVALID unless exactly one argument is given.',
    extensions: { credential: 'service' },
    args: {
      keyID: t.arg.id({ description: 'Identifier of the key. Cannot be combined with `keyHash`.' }),
      keyHash: t.arg.string({
        description: 'Hash of the identifier, as in `OrgKey.keyHash`. Cannot be combined with `keyID`.',
      }),
    },
    resolve: (_, { keyID, keyHash }, context) =>
      context.keys.orgKey(callerOf(context, 'service'), referenceOf(keyID, keyHash)),
  }),
);

function referenceOf(keyID: string | number | null | undefined, keyHash: string | null | undefined) {
  if (keyID !== null && keyID !== undefined && typeof keyHash !== 'string') return { keyID: String(keyID) };
  if (typeof keyHash === 'string' && (keyID === null || keyID === undefined)) return { keyHash };
  throw new AppError('INVALID', 'Specify exactly one of `keyID` and `keyHash`.');
}
