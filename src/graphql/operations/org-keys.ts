import type { InputShapeFromFields } from '@pothos/core';
import type { ConnectionShape, DefaultConnectionArguments } from '@pothos/plugin-relay';
import { Kind, type GraphQLResolveInfo, type SelectionSetNode } from 'graphql';
import type { Caller } from '../../keys/ports.js';
import type { StoredKey } from '../../keys/key.js';
import { defaultOrder, keyOrders, type KeyFilter, type KeyOrder, type KeyQuery } from '../../keys/key-query.js';
import { builder, type SchemaTypes } from '../schema/builder.js';
import { callerOf, type Context } from '../context.js';
import { cursorOf, positionOf } from '../schema/cursor.js';
import { describedEnum } from '../schema/types-from-zod.js';
import { KeyStateType, OrgKey } from '../types/org-key.js';
import { Organization } from '../types/organization.js';
import { connectionPage } from '../schema/pagination.js';

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

/** A page, and what it takes to count all that match: nobody counts who is not asked to. */
type KeyPage = ConnectionShape<SchemaTypes, StoredKey, false> & { readonly count: () => Promise<number> };

const OrgKeyEdge = builder.edgeObject({
  type: OrgKey,
  name: 'OrgKeyEdge',
  description: 'A key in its place in the list.',
});

const OrgKeyConnection = builder.connectionObject<typeof OrgKey, Promise<KeyPage>>(
  {
    type: OrgKey,
    name: 'OrgKeyConnection',
    description: 'A page of keys.',
    fields: (t) => ({
      totalCount: t.int({
        description:
          'How many keys match in all, beyond this page too. Counted only when it is asked for, which takes as long as there are keys that match.',
        resolve: ({ count }) => count(),
      }),
    }),
  },
  OrgKeyEdge,
);

const listArgs = builder.args((t) => ({
  filter: t.field({ type: OrgKeyFilter, description: 'Which keys; all that are not deleted where absent.' }),
  orderBy: t.field({
    type: KeyOrderType,
    description: 'In which order. When absent: ALIAS with a filter by `aliasPrefix`, else KEY_HASH.',
  }),
  descending: t.boolean({ defaultValue: false, description: 'Whether the order runs backwards.' }),
}));

type ListArgs = InputShapeFromFields<typeof listArgs> & DefaultConnectionArguments;

/** Whether a selection asks for the number of keys only, so that no key has to be read. */
function isCountOnly({ fieldNodes, fragments }: GraphQLResolveInfo): boolean {
  const countsOnly = (set: SelectionSetNode | undefined): boolean =>
    set !== undefined &&
    set.selections.every((selection) => {
      if (selection.kind === Kind.FIELD) return ['totalCount', '__typename'].includes(selection.name.value);
      if (selection.kind === Kind.INLINE_FRAGMENT) return countsOnly(selection.selectionSet);
      return countsOnly(fragments[selection.name.value]?.selectionSet);
    });
  return fieldNodes.every(({ selectionSet }) => countsOnly(selectionSet));
}

/** A page of the keys that the caller may see. */
async function keyPage(caller: Caller, args: ListArgs, { keys }: Context, info: GraphQLResolveInfo): Promise<KeyPage> {
  const filter = filterOf(args.filter);
  const orderBy = args.orderBy ?? defaultOrder(filter);
  const page = await connectionPage<StoredKey>(
    args,
    (key) => cursorOf(key, orderBy),
    async ({ before, after, limit, inverted }) => {
      const query: Omit<KeyQuery, 'now'> = {
        filter,
        orderBy,
        // The last keys of an order are the first of its reverse.
        descending: (args.descending ?? false) !== inverted,
        limit,
        ...(after !== undefined && { [inverted ? 'before' : 'after']: positionOf(after, orderBy, 'after') }),
        ...(before !== undefined && { [inverted ? 'after' : 'before']: positionOf(before, orderBy, 'before') }),
      };
      return isCountOnly(info) ? [] : [...(await keys.orgKeys(caller, query)).keys];
    },
  );
  return { ...page, count: () => keys.countOrgKeys(caller, filter) };
}

builder.queryField('orgKeys', (t) =>
  t.connection(
    {
      type: OrgKey,
      description:
        'Keys of organisations, a page at a time. A late page costs about what an early one does: in every order without a filter or with `orgID`, by hash also with one of `tag`, `policy` and `apiID`, by alias also with `aliasPrefix`; other conditions may make a page go through more keys. Needs a service credential; one that is bound to an organisation lists only its keys. Errors: INVALID where the page or a cursor is not valid.',
      extensions: { credential: 'service' },
      args: listArgs,
      resolve: (_, args, context, info) => keyPage(callerOf(context, 'service'), args, context, info),
    },
    OrgKeyConnection,
    OrgKeyEdge,
  ),
);

builder.objectField(Organization, 'orgKeys', (t) =>
  t.connection(
    {
      type: OrgKey,
      nullable: true,
      description:
        'The organisation’s keys, a page at a time as `Query.orgKeys` has them; an empty page where it has none. Null where they cannot be read, with the reason among the errors.',
      args: listArgs,
      // Within an organisation a caller sees what one would see who is bound to it.
      resolve: ({ orgID }, args, context, info) =>
        keyPage({ ...callerOf(context, 'service'), orgID }, args, context, info),
    },
    OrgKeyConnection,
    OrgKeyEdge,
  ),
);
