import type { SubscribedChange } from '../../keys/queries/change-subscription.js';
import { AppError } from '../../lib/errors.js';
import type { Loaders } from '../dataloaders.js';
import { optionalReferenceFrom, withoutNulls } from './arguments.js';
import { builder } from './builder.js';
import { DeliveredKeyType } from './deliver.js';
import { KeyHistoryEntry } from './history.js';
import { OrgKey } from './key.js';
import { KeyNoticeType } from './notice.js';
import { forwardRange } from './pagination.js';

/**
 * The history entry of a change.
 *
 * @throws {AppError} INTERNAL when it fails its integrity check: its fields are null, and the event keeps its cursor.
 */
function requireEntry({ entry, isUnreadable }: SubscribedChange): SubscribedChange['entry'] {
  if (isUnreadable) throw new AppError('INTERNAL', 'A history entry fails its integrity check; see `keyfront check`.');
  return entry;
}

const deliveredDescription =
  'The key as it is now, with its secrets, as `Query.deliverKey` returns it. Null if it is deleted or purged: remove your copy then; also null if an error is returned. Requires the scope `deliver`.';

const OrgKeyEvent = builder.interfaceRef<SubscribedChange>('OrgKeyEvent').implement({
  description:
    'An event of the change feed. Types may be added: follow a type that you do not know by its `cursor`, and ignore it otherwise.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description:
        'Cursor of the event, for `after`. Opaque. Valid in every process, after a restart and after `migrate-store`; not after a restore from a backup that is older than the event.',
    }),
  }),
  resolveType: ({ entry, notice, isUnreadable }) => {
    if (notice) return 'OrgKeyNoticed';
    return entry || isUnreadable ? 'OrgKeyChanged' : 'KeyFeedCheckpoint';
  },
});

builder.objectRef<SubscribedChange>('KeyFeedCheckpoint').implement({
  interfaces: [OrgKeyEvent],
  description:
    'Only advances the cursor. Sent at the start if `after` is absent, and about every 30 seconds while only keys change that the subscription does not include.',
});

builder.objectRef<SubscribedChange>('OrgKeyChanged').implement({
  interfaces: [OrgKeyEvent],
  description:
    'A change of a key. If its history entry fails its integrity check, all fields but `cursor` are null and the error is INTERNAL.',
  fields: (t) => ({
    keyHash: t.string({
      nullable: true,
      description: 'Hash of the key identifier, also for a deleted or purged key. Null if an error is returned.',
      resolve: (event) => requireEntry(event)?.keyHash,
    }),
    orgID: t.string({
      nullable: true,
      description: 'Identifier of the organization that owns the key. Null if an error is returned.',
      resolve: (event) => requireEntry(event)?.orgID,
    }),
    entry: t.field({
      type: KeyHistoryEntry,
      nullable: true,
      description: 'The change, as in the history of the key. Null if an error is returned.',
      resolve: requireEntry,
    }),
    key: t.field({
      type: OrgKey,
      nullable: true,
      description:
        'The key as it is now, which can be newer than the change. Null if it is deleted, unless `includeDeleted` is true, if it is purged, or if an error is returned.',
      args: keyArgs,
      resolve: (event, args, { loaders }) => {
        const entry = requireEntry(event);
        return entry && loadKey(entry.keyHash, args, loaders);
      },
    }),
    delivered: t.field({
      type: DeliveredKeyType,
      nullable: true,
      extensions: { isOutsideSubgraph: true },
      description: deliveredDescription,
      resolve: (event, _, { keys, serviceCaller }) => {
        const entry = requireEntry(event);
        return entry && keys.deliverKey(serviceCaller(), { keyHash: entry.keyHash });
      },
    }),
  }),
});

/** The argument of the keys of events. */
const keyArgs = builder.args((t) => ({
  includeDeleted: t.boolean({
    defaultValue: false,
    description: 'Whether to return a deleted key too, until it is purged.',
  }),
}));

interface KeyArgs {
  readonly includeDeleted?: boolean | null | undefined;
}

function loadKey(keyHash: string, { includeDeleted }: KeyArgs, { orgKeys, remainingKeys }: Loaders) {
  return (includeDeleted === true ? remainingKeys : orgKeys).load(keyHash);
}

/** The notice of an event that was resolved to this type. */
function noticeOf({ notice }: SubscribedChange): NonNullable<SubscribedChange['notice']> {
  if (!notice) throw new AppError('INTERNAL', 'The event has no notice.');
  return notice;
}

builder.objectRef<SubscribedChange>('OrgKeyNoticed').implement({
  interfaces: [OrgKeyEvent],
  description:
    'An event of a key in time, which changes nothing. Recorded once for each expiry time, and for each period of a quota.',
  fields: (t) => ({
    // Nullable as in `OrgKeyChanged`, so that one operation can select both.
    keyHash: t.string({
      nullable: true,
      description: 'Hash of the key identifier, also for a deleted or purged key. Never null.',
      resolve: (event) => noticeOf(event).keyHash,
    }),
    orgID: t.string({
      nullable: true,
      description: 'Identifier of the organization that owned the key then. Never null.',
      resolve: (event) => noticeOf(event).orgID,
    }),
    notice: t.field({ type: KeyNoticeType, description: 'What happened.', resolve: noticeOf }),
    key: t.field({
      type: OrgKey,
      nullable: true,
      description: 'The key as it is now. Null if it is deleted, unless `includeDeleted` is true, or if it is purged.',
      args: keyArgs,
      resolve: (event, args, { loaders }) => loadKey(noticeOf(event).keyHash, args, loaders),
    }),
    delivered: t.field({
      type: DeliveredKeyType,
      nullable: true,
      extensions: { isOutsideSubgraph: true },
      description: deliveredDescription,
      resolve: (event, _, { keys, serviceCaller }) =>
        keys.deliverKey(serviceCaller(), { keyHash: noticeOf(event).keyHash }),
    }),
  }),
});

builder.queryField('orgKeyChanges', (t) =>
  t.connection(
    {
      type: OrgKeyEvent,
      nullable: true,
      description:
        'Lists the changes of all keys, and notices about them, newest first. A purge removes those of a key. The cursors are those of `orgKeyChanged`: follow with `after: "…"` to receive what comes after a change. One request looks at 10,000 changes: a page can have fewer items than `first`, even none, and still have a next page, after its `endCursor`. Only forwards, with `first` and `after`. Requires a service credential. Null if an error is returned. Errors: INVALID if a page size or a cursor is not valid.',
      credential: 'service',
      args: {
        orgID: t.arg.string({
          description:
            'Lists only changes of keys of this organization. Default: all organizations that the credential can see. Example: acme.',
        }),
      },
      resolve: async (caller, { orgID, ...args }, { keys }) => {
        const { limit, after } = forwardRange(args);
        const { changes, end, hasNext } = await keys.recentChanges(caller, {
          orgID: orgID ?? undefined,
          limit,
          after,
        });
        const edges = changes.map((change) => ({ cursor: change.cursor, node: change }));
        return {
          edges,
          pageInfo: {
            hasNextPage: hasNext,
            hasPreviousPage: after !== undefined,
            startCursor: edges[0]?.cursor ?? null,
            endCursor: end ?? null,
          },
        };
      },
    },
    { name: 'OrgKeyEventConnection', description: 'A page of changes and notices.' },
    { name: 'OrgKeyEventEdge', description: 'A change or a notice, and its cursor.' },
  ),
);

builder.subscriptionField('orgKeyChanged', (t) =>
  t.field({
    type: OrgKeyEvent,
    description:
      'Streams changes of keys as they take effect, each once and in order, notices of keys that expire, use up a quota or are purged, and checkpoints between them. Consumption of a quota is not a change. A purge removes a key with its history, which later subscriptions do not receive. Requires a service credential. Errors: INVALID for a cursor of another database, RATE_LIMITED above the maximum number of open subscriptions of the credential, by default 100 per process.',
    credential: 'service',
    args: {
      orgID: t.arg.string({
        description:
          'Streams only changes of keys of this organization. Default: all organizations that the credential can see. Example: acme.',
      }),
      keyID: t.arg.id({
        description:
          'Streams only changes of the key that has this identifier now; NOT_FOUND if none has. To continue after the identifier has retired, send `keyHash`. Example: acme-billing.',
      }),
      keyHash: t.arg.string({
        description:
          'Streams only changes of the key with this hash, as in `OrgKey.keyHash`, or of an identifier that it has now. With the former, also before the key is created and after it is purged.',
      }),
      after: t.arg.string({
        description: 'Resumes after this cursor, that of the last event received. Default: only changes from now on.',
      }),
    },
    subscribe: (caller, { keyID, keyHash, ...args }, { keys, registerSubscription }) => {
      const key = optionalReferenceFrom(keyID ?? undefined, keyHash ?? undefined);
      return keys.orgKeyChanges(caller, { ...withoutNulls(args), key }, registerSubscription(caller.credentialID));
    },
    resolve: (event) => event,
  }),
);
