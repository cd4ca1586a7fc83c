import { keyOrders, type KeyFilter, type KeyOrder, type StoredKey } from '../keys/store.js';
import { builder } from './builder.js';
import { callerOf } from './context.js';
import { cursorOf, positionOf } from './cursor.js';
import { describedEnum } from './derive.js';
import { KeyStateType, OrgKey } from './org-key.js';
import { connectionPage } from './paging.js';

export const OrgKeyFilter = builder.inputType('OrgKeyFilter', {
  description:
    'Which keys are meant: those for which all that is given holds; null is the same as leaving it out. Deleted keys count only where `state` asks for them.',
  fields: (t) => ({
    orgID: t.string({ description: 'Keys of this organisation. Example: acme.' }),
    aliasPrefix: t.string({ description: 'Keys whose alias begins so; case counts. Example: Billing.' }),
    tag: t.string({ description: 'Keys with this tag, to the letter. Example: production.' }),
    policy: t.string({ description: 'Keys with the policy of this identifier. Example: gold.' }),
    apiID: t.string({ description: 'Keys with an access right for the API of this identifier. Example: invoices.' }),
    state: t.field({
      type: KeyStateType,
      description: 'Keys in this state; all that are not deleted where it is absent.',
    }),
    expiresBefore: t.field({
      type: 'Int64',
      description:
        'Keys that expire before this moment, in Unix seconds; not those that never do. Example: 1893456000.',
    }),
    updatedSince: t.field({
      type: 'Int64',
      description: 'Keys changed at this moment or later, in Unix seconds. Example: 1769860800.',
    }),
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
        'Keys of organisations, a page at a time. A late page costs about what an early one does: in every order without a filter or with `orgID`, by hash also with one of `tag`, `policy` and `apiID`, by alias also with `aliasPrefix`; other conditions may make a page go through more keys. Needs a service credential; one that is bound to an organisation lists only its keys. Errors: INVALID where the page or a cursor is not valid.',
      extensions: { credential: 'service' },
      args: {
        filter: t.arg({ type: OrgKeyFilter, description: 'Which keys; all that are not deleted where absent.' }),
        orderBy: t.arg({ type: KeyOrderType, defaultValue: 'KEY_HASH', description: 'In which order.' }),
        descending: t.arg.boolean({ defaultValue: false, description: 'Whether the order runs backwards.' }),
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
          description:
            'How many keys match in all, beyond this page too. Counted only when it is asked for, which takes as long as there are keys that match.',
          resolve: ({ count }) => count(),
        }),
      }),
    },
    { description: 'A key in its place in the list.' },
  ),
);
