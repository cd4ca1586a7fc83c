import { AppError } from '../../lib/errors.js';
import type { Followed } from '../../keys/queries/change-subscription.js';
import { builder } from '../schema/builder.js';
import { callerOf } from '../context.js';
import { HistoryEntry, OrgKey } from '../types/org-key.js';

/** Throws INTERNAL for an entry that fails its integrity check. Its fields are null then; the event keeps its cursor. */
function entryOf({ entry, isUnreadable }: Followed): Followed['entry'] {
  if (isUnreadable) throw new AppError('INTERNAL', 'A history entry fails its integrity check; see `keyfront check`.');
  return entry;
}

const OrgKeyChangedEvent = builder.objectRef<Followed>('OrgKeyChangedEvent').implement({
  description:
    'A change of a key; or, if `entry` is null, only how far changes have been followed: the first event if `after` is absent, and one about every 30 seconds if only keys of others have changed. If the history entry fails its integrity check, all fields but `cursor` are null, with INTERNAL among the errors.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description:
        'The place of the event, for `after`. Opaque, and good on any process, after a restart and after `migrate-store`; not after a backup has undone what it had seen.',
    }),
    keyHash: t.string({
      nullable: true,
      description: 'Hash of the key’s identifier, also where the key is deleted or purged; null where `entry` is.',
      resolve: (event) => entryOf(event)?.keyHash,
    }),
    orgID: t.string({
      nullable: true,
      description: 'Identifier of the organisation that owns the key; null where `entry` is.',
      resolve: (event) => entryOf(event)?.orgID,
    }),
    entry: t.field({
      type: HistoryEntry,
      nullable: true,
      description: 'What was done, as it stands in the history of the key; null where nothing was.',
      resolve: entryOf,
    }),
    key: t.field({
      type: OrgKey,
      nullable: true,
      description:
        'The key as it is now, which may be later than the change; null where it is deleted, or `entry` is null.',
      resolve: (event, _, { loaders }) => {
        const entry = entryOf(event);
        return entry && loaders.orgKeys.load(entry.keyHash);
      },
    }),
  }),
});

builder.subscriptionField('orgKeyChanged', (t) =>
  t.field({
    type: OrgKeyChangedEvent,
    description:
      'Changes of keys as they take effect, each once and in order, over text/event-stream. Consumption of a quota is no change. A purge removes the history of a key with the key: a later subscription does not see it. Needs a service credential. Errors: INVALID for a cursor of another database, RATE_LIMITED beyond 100 subscriptions of a credential in one process.',
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
