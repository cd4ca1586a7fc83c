import type { InputShapeFromFields } from '@pothos/core';
import type { ConnectionShape, DefaultConnectionArguments } from '@pothos/plugin-relay';
import { Kind, type GraphQLResolveInfo, type SelectionSetNode } from 'graphql';
import type { CallContext } from '../../keys/ports.js';
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
    'Filters keys. All conditions must match; null is the same as omitted. Deleted keys are excluded unless `state` is DELETED.',
  fields: (t) => ({
    orgID: t.string({ description: 'Keys of this organisation. Example: acme.' }),
    aliasPrefix: t.string({
      description: 'Keys whose alias starts with this value, case-sensitive. Example: Billing.',
    }),
    tag: t.string({ description: 'Keys with exactly this tag, case-sensitive. Example: production.' }),
    policy: t.string({ description: 'Keys with this policy identifier in `applyPolicies`. Example: gold.' }),
    apiID: t.string({ description: 'Keys with an access right that has this `apiID`. Example: invoices.' }),
    state: t.field({
      type: KeyStateType,
      description: 'Keys in this state. Default: all states except DELETED.',
    }),
    expiresBefore: t.field({
      type: 'Int64',
      description:
        'Keys that expire before this time, in Unix seconds. Keys that never expire do not match. Example: 1893456000.',
    }),
    updatedSince: t.field({
      type: 'Int64',
      description: 'Keys last changed at or after this time, in Unix seconds. Example: 1769860800.',
    }),
  }),
});

const KeyOrderType = builder.enumType('OrgKeyOrder', {
  description: 'The order of a list of keys. Keys with equal values are ordered by hash.',
  values: describedEnum<KeyOrder>(keyOrders),
});

/** The conditions of a filter; null is the same as omitted. */
export function filterOf(filter: (typeof OrgKeyFilter)['$inferInput'] | null | undefined): KeyFilter {
  const given = Object.entries(filter ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(given);
}

/** A page of keys. `count` counts all matching keys, and is called only if `totalCount` is selected. */
type KeyPage = ConnectionShape<SchemaTypes, StoredKey, false> & { readonly count: () => Promise<number> };

const OrgKeyEdge = builder.edgeObject({
  type: OrgKey,
  name: 'OrgKeyEdge',
  description: 'A key and its cursor.',
});

const OrgKeyConnection = builder.connectionObject<typeof OrgKey, Promise<KeyPage>>(
  {
    type: OrgKey,
    name: 'OrgKeyConnection',
    description: 'A page of keys.',
    fields: (t) => ({
      totalCount: t.int({
        description:
          'Total number of matching keys on all pages. Counted only if selected; the time grows with the number of matching keys.',
        resolve: ({ count }) => count(),
      }),
    }),
  },
  OrgKeyEdge,
);

const listArgs = builder.args((t) => ({
  filter: t.field({ type: OrgKeyFilter, description: 'The keys to return. Default: all that are not deleted.' }),
  orderBy: t.field({
    type: KeyOrderType,
    description: 'Order of the list. Default: ALIAS if the filter has `aliasPrefix`, else KEY_HASH.',
  }),
  descending: t.boolean({ defaultValue: false, description: 'Whether to reverse the order.' }),
}));

type ListArgs = InputShapeFromFields<typeof listArgs> & DefaultConnectionArguments;

/** Whether only `totalCount` is selected, so that no key has to be read. */
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

/** Reads a page of the keys that the caller can see. */
async function keyPage(
  caller: CallContext,
  args: ListArgs,
  { keys }: Context,
  info: GraphQLResolveInfo,
): Promise<KeyPage> {
  const filter = filterOf(args.filter);
  const orderBy = args.orderBy ?? defaultOrder(filter);
  const page = await connectionPage<StoredKey>(
    args,
    (key) => cursorOf(key, orderBy),
    async ({ before, after, limit, inverted }) => {
      const query: Omit<KeyQuery, 'now'> = {
        filter,
        orderBy,
        // The last keys of an order are the first of the reverse order.
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
        'Lists keys, paginated. Requires a service credential; one that is bound to an organisation lists only its keys. Errors: INVALID if a page size or a cursor is not valid.',
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
        'Lists the keys of the organisation, paginated as in `Query.orgKeys`; an empty page if it has none. Null if the credential cannot see the organisation; null with an error if they cannot be read.',
      args: listArgs,
      // The caller sees the keys of this organisation only, as one that is bound to it.
      resolve: ({ orgID }, args, context, info) =>
        keyPage({ ...callerOf(context, 'service'), orgID }, args, context, info),
    },
    OrgKeyConnection,
    OrgKeyEdge,
  ),
);
