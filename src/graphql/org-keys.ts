import { keyOrders, type KeyFilter, type KeyOrder, type StoredKey } from '../keys/store.js';
import { builder } from './builder.js';
import { callerOf } from './context.js';
import { cursorOf, positionOf } from './cursor.js';
import { describedEnum } from './derive.js';
import { KeyStateType, OrgKey } from './org-key.js';
import { connectionPage } from './paging.js';

export const OrgKeyFilter = builder.inputType('OrgKeyFilter', {
  description:
    'Which keys are meant: those for which all that is given holds. Deleted keys count only where `state` asks for them.',
  fields: (t) => ({
    orgID: t.string({ description: 'Keys of this organisation.' }),
    aliasPrefix: t.string({ description: 'Keys whose alias begins so; case counts.' }),
    tag: t.string({ description: 'Keys with this tag.' }),
    policy: t.string({ description: 'Keys with this policy.' }),
    apiID: t.string({ description: 'Keys with access to the API of this identifier.' }),
    state: t.field({ type: KeyStateType, description: 'Keys in this state.' }),
    expiresBefore: t.field({ type: 'Int64', description: 'Keys that expire before this moment, in Unix seconds.' }),
    updatedSince: t.field({ type: 'Int64', description: 'Keys changed at this moment or later, in Unix seconds.' }),
  }),
});

const KeyOrderType = builder.enumType('OrgKeyOrder', {
  description: 'The order of a list of keys. Among equals, the hash decides.',
  values: describedEnum<KeyOrder>(keyOrders),
});

/** Null says nothing in a filter. */
export function filterOf(filter: (typeof OrgKeyFilter)['$inferInput'] | null | undefined): KeyFilter {
  const given = Object.entries(filter ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(given);
}

builder.queryField('orgKeys', (t) =>
  t.connection(
    {
      type: OrgKey,
      description:
        'Keys of organisations, a page at a time: 20 unless `first` or `last` says otherwise, 100 at the most. A page costs the same wherever it stands. Needs a service credential; one that is bound to an organisation lists only its keys.',
      extensions: { credential: 'service' },
      args: {
        filter: t.arg({ type: OrgKeyFilter, description: 'Which keys; all that are not deleted where absent.' }),
        orderBy: t.arg({ type: KeyOrderType, description: 'In which order; KEY_HASH where absent.' }),
        descending: t.arg.boolean({ description: 'Whether the order runs backwards.' }),
      },
      resolve: async (_, args, context) => {
        const caller = callerOf(context, 'service');
        const orderBy = args.orderBy ?? 'KEY_HASH';
        const filter = filterOf(args.filter);
        const page = await connectionPage<StoredKey>(
          args,
          (key) => cursorOf(key, orderBy),
          ({ before, after, limit, inverted }) =>
            context.keys.orgKeys(caller, {
              filter,
              orderBy,
              // The last keys of an order are the first of its reverse.
              descending: (args.descending ?? false) !== inverted,
              limit,
              ...(after !== undefined && { [inverted ? 'before' : 'after']: positionOf(after, orderBy, 'after') }),
              ...(before !== undefined && { [inverted ? 'after' : 'before']: positionOf(before, orderBy, 'before') }),
            }),
        );
        return { ...page, count: () => context.keys.countOrgKeys(caller, filter) };
      },
    },
    {
      description: 'A page of keys.',
      fields: (f) => ({
        totalCount: f.int({
          description: 'How many keys match in all. Counted only when asked for, and then over all that match.',
          resolve: ({ count }) => count(),
        }),
      }),
    },
    { description: 'A key in its place in the list.' },
  ),
);
