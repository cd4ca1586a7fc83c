import type { InputShapeFromFields } from '@pothos/core';
import type { ConnectionShape, DefaultConnectionArguments } from '@pothos/plugin-relay';
import { Kind, type GraphQLResolveInfo, type SelectionSetNode } from 'graphql';
import type { StoredKey } from '../../keys/key.js';
import { defaultOrder, type KeyQuery } from '../../keys/key-query.js';
import type { CallContext } from '../../keys/ports.js';
import { callerOf, type Context } from '../context.js';
import { builder, type SchemaTypes } from '../schema/builder.js';
import { encodeCursor, decodeCursor } from '../schema/cursor.js';
import { readConnectionPage } from '../schema/pagination.js';
import { toKeyFilter, KeyOrderType, OrgKeyFilter } from './org-key-filter.js';
import { OrgKey } from './org-key.js';
import { Organization } from './organization.js';

/** A page of keys. `count` counts all matching keys, and is called only if `totalCount` is selected. */
type OrgKeyPage = ConnectionShape<SchemaTypes, StoredKey, false> & { readonly count: () => Promise<number> };

/** An edge of a list of keys. */
export const OrgKeyEdge = builder.edgeObject({
  type: OrgKey,
  name: 'OrgKeyEdge',
  description: 'A key and its cursor.',
});

export const OrgKeyConnection = builder.connectionObject<typeof OrgKey, Promise<OrgKeyPage>>(
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

/** The arguments of a list of keys. */
export const orgKeysArgs = builder.args((t) => ({
  filter: t.field({ type: OrgKeyFilter, description: 'The keys to return. Default: all that are not deleted.' }),
  orderBy: t.field({
    type: KeyOrderType,
    description: 'Order of the list. Default: ALIAS if the filter has `aliasPrefix`, else KEY_HASH.',
  }),
  descending: t.boolean({ defaultValue: false, description: 'Whether to reverse the order.' }),
}));

type OrgKeysArgs = InputShapeFromFields<typeof orgKeysArgs> & DefaultConnectionArguments;

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
export async function readOrgKeyPage(
  caller: CallContext,
  args: OrgKeysArgs,
  { keys }: Context,
  info: GraphQLResolveInfo,
): Promise<OrgKeyPage> {
  const filter = toKeyFilter(args.filter);
  const orderBy = args.orderBy ?? defaultOrder(filter);
  const page = await readConnectionPage<StoredKey>(
    args,
    (key) => encodeCursor(key, orderBy),
    async ({ before, after, limit, inverted }) => {
      const query: Omit<KeyQuery, 'now'> = {
        filter,
        orderBy,
        // The last keys of an order are the first of the reverse order.
        descending: (args.descending ?? false) !== inverted,
        limit,
        ...(after !== undefined && { [inverted ? 'before' : 'after']: decodeCursor(after, orderBy, 'after') }),
        ...(before !== undefined && { [inverted ? 'after' : 'before']: decodeCursor(before, orderBy, 'before') }),
      };
      return isCountOnly(info) ? [] : [...(await keys.orgKeys(caller, query)).keys];
    },
  );
  return { ...page, count: () => keys.countOrgKeys(caller, filter) };
}

builder.objectField(Organization, 'orgKeys', (t) =>
  t.connection(
    {
      type: OrgKey,
      nullable: true,
      description:
        'Lists the keys of the organisation, paginated as in `Query.orgKeys`; an empty page if it has none. Null if the credential cannot see the organisation; null with an error if they cannot be read.',
      args: orgKeysArgs,
      // The caller sees the keys of this organisation only, as one that is bound to it.
      resolve: ({ orgID }, args, context, info) =>
        readOrgKeyPage({ ...callerOf(context, 'service'), orgID }, args, context, info),
    },
    OrgKeyConnection,
    OrgKeyEdge,
  ),
);
