import type { Followed } from '../keys/following.js';
import { builder } from './builder.js';
import { callerOf } from './context.js';
import { HistoryEntry, OrgKey } from './org-key.js';

const OrgKeyChangedEvent = builder.objectRef<Followed>('OrgKeyChangedEvent').implement({
  description:
    'A change of a key; or, where `entry` is null, only how far changes have been followed: the first event of whoever follows from now on, and one about every 30 seconds where only changes of others were made.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description:
        'The place of the event, for `after`. Opaque, and good on any process, after a restart and after `migrate-store`; not after a backup has undone what it had seen.',
    }),
    keyHash: t.string({
      nullable: true,
      description: 'Hash of the key’s identifier, also where the key is deleted or purged; null where `entry` is.',
      resolve: ({ entry }) => entry?.keyHash,
    }),
    orgID: t.string({
      nullable: true,
      description: 'Identifier of the organisation that owns the key; null where `entry` is.',
      resolve: ({ entry }) => entry?.orgID,
    }),
    entry: t.field({
      type: HistoryEntry,
      nullable: true,
      description: 'What was done, as it stands in the history of the key; null where nothing was.',
      resolve: ({ entry }) => entry,
    }),
    key: t.field({
      type: OrgKey,
      nullable: true,
      description:
        'The key as it is now, which may be later than the change; null where it is deleted, or `entry` is null.',
      resolve: ({ entry }, _, { loaders }) => entry && loaders.orgKeys.load(entry.keyHash),
    }),
  }),
});

builder.subscriptionField('orgKeyChanged', (t) =>
  t.field({
    type: OrgKeyChangedEvent,
    description:
      'Changes of keys as they take effect, each once and in order, over text/event-stream. Live quotas change without a word here. A purged key takes its history with it: nothing is told of it to whoever comes later. Needs a service credential. Errors: INVALID for a cursor of another database, RATE_LIMITED beyond 100 subscriptions of a credential.',
    extensions: { credential: 'service' },
    args: {
      orgID: t.arg.string({
        description:
          'Changes of this organisation’s keys only; of all that the credential may see where it is absent. Example: acme.',
      }),
      keyHash: t.arg.string({ description: 'Changes of the key with this hash only, as `keyHash` of a key.' }),
      after: t.arg.string({
        description:
          'Everything after this place, then what comes: the `cursor` of the last event that was seen. From now on where it is absent.',
      }),
    },
    subscribe: (_, { orgID, keyHash, after }, context) => {
      const caller = callerOf(context, 'service');
      const request = { orgID: orgID ?? undefined, keyHash: keyHash ?? undefined, after: after ?? undefined };
      return context.keys.orgKeyChanges(caller, request, context.openStream(caller.credentialID));
    },
    resolve: (event) => event,
  }),
);
