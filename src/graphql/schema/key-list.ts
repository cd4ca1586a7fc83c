import type { InputShapeFromFields } from '@pothos/core';
import type { DefaultConnectionArguments } from '@pothos/plugin-relay';
import type { GraphQLResolveInfo } from 'graphql';
import { isSearchText, searchTextRule } from '../../keys/alias-search.js';
import { dateTimeRule, isDateTime } from '../../keys/definition/field-types.js';
import type { StoredKey } from '../../keys/key.js';
import {
  defaultOrder,
  entriesOf,
  keyOrders,
  maxListed,
  positionOfEntry,
  type KeyOrder,
  type KeyPage,
  type KeyPosition,
  type RequestedFilter,
} from '../../keys/key-query.js';
import type { PageRequest } from '../../keys/queries/read-keys.js';
import { AppError, type Issue } from '../../lib/errors.js';
import { cursorsOf } from '../../wire/list-cursor.js';
import { withoutNulls } from './arguments.js';
import { builder } from './builder.js';
import { KeyStateType, OrgKey } from './key.js';
import { Organization } from './organization.js';
import { readConnectionPage, type ConnectionItem, type PageFlags } from './pagination.js';
import { fieldsIn, selectedFields } from './selection.js';
import { enumValuesOf } from './types-from-zod.js';

export const OrgKeyFilter = builder.inputType('OrgKeyFilter', {
  description:
    'Filters keys. All conditions must match; null is the same as omitted, and a list has 1 to 100 items. Deleted keys are excluded unless `states` has DELETED.',
  fields: (t) => ({
    orgID: t.string({ description: 'Keys of this organization. Example: acme.' }),
    aliasPrefix: t.string({
      description: 'Keys whose alias starts with this value, case-sensitive. Example: Billing.',
    }),
    aliasContains: t.string({
      description:
        'Keys whose alias contains this text of at most 256 characters; upper and lower case of a letter are equal. Reads an index of all aliases, or of those of `orgID`. Example: billing.',
    }),
    keyIDs: t.idList({
      description:
        'Keys with one of these identifiers, also one that is going to retire. Unknown and retired ones match nothing. Example: acme-billing.',
    }),
    keyHashes: t.stringList({
      description: 'Keys with one of these hashes, as in `OrgKey.keyHash`, or of an identifier that they have now.',
    }),
    tagsAny: t.stringList({
      description: 'Keys with at least one of these tags, case-sensitive. Example: production.',
    }),
    tagsAll: t.stringList({ description: 'Keys with all of these tags, case-sensitive. Example: production.' }),
    policy: t.string({ description: 'Keys with this policy identifier in `applyPolicies`. Example: gold.' }),
    apiID: t.string({ description: 'Keys with an access right that has this `apiID`. Example: invoices.' }),
    states: t.field({
      type: [KeyStateType],
      description: 'Keys in one of these states. Default: all states except DELETED.',
    }),
    expiresBefore: t.field({
      type: 'KeyDateTime',
      description:
        'Keys that expire before this time. Keys that never expire do not match. Example: 2030-01-01T00:00:00Z.',
    }),
    updatedSince: t.field({
      type: 'KeyDateTime',
      description: 'Keys last changed at or after this time. Example: 2026-01-31T12:00:00Z.',
    }),
    unusedSince: t.field({
      type: 'KeyDateTime',
      description:
        'Keys that were not used at or after this time, as `OrgKey.lastUsedAt` has it; those that were never used match. Example: 2026-01-31T12:00:00Z.',
    }),
  }),
});

const KeyOrderType = builder.enumType('OrgKeyOrder', {
  description: 'The order of a list of keys. Keys with equal values are ordered by hash.',
  values: enumValuesOf<KeyOrder>(keyOrders),
});

/**
 * The conditions of a filter; null is the same as omitted.
 *
 * @throws {AppError} INVALID for a malformed time, list or text.
 */
export function toKeyFilter(filter: (typeof OrgKeyFilter)['$inferInput'] | null | undefined): RequestedFilter {
  const { expiresBefore, updatedSince, unusedSince, ...others } = withoutNulls(filter ?? {});
  if (!isSearchText(others.aliasContains ?? '')) {
    throw invalidFilter({ path: ['filter', 'aliasContains'], code: 'MALFORMED_ARGUMENT', message: searchTextRule });
  }
  for (const [condition, value] of Object.entries(others)) {
    if (!Array.isArray(value) || (value.length > 0 && value.length <= maxListed)) continue;
    const message = `must have 1 to ${maxListed} items`;
    throw invalidFilter({ path: ['filter', condition], code: value.length === 0 ? 'EMPTY' : 'TOO_MANY', message });
  }
  return {
    ...others,
    ...(expiresBefore !== undefined && { expiresBefore: firstSecondFrom(expiresBefore, 'expiresBefore') }),
    ...(updatedSince !== undefined && { updatedSince: firstSecondFrom(updatedSince, 'updatedSince') }),
    ...(unusedSince !== undefined && { unusedSince: firstMillisecondFrom(unusedSince, 'unusedSince') }),
  };
}

function invalidFilter(issue: Issue): AppError {
  return new AppError('INVALID', 'The filter is not valid.', { issues: [issue] });
}

/** The first Unix second at or after a time: keys expire and change at whole seconds. */
function firstSecondFrom(time: string, condition: string): bigint {
  return firstFrom(time, condition, 1000, /\.\d*[1-9]/);
}

/** The first Unix millisecond at or after a time: keys are used at whole milliseconds. */
function firstMillisecondFrom(time: string, condition: string): bigint {
  return firstFrom(time, condition, 1, /\.\d{3}\d*[1-9]/);
}

/** The first whole unit at or after a time. A Date has milliseconds, and RFC 3339 any number of digits. */
function firstFrom(time: string, condition: string, unitMs: number, fraction: RegExp): bigint {
  if (!isDateTime(time)) {
    throw invalidFilter({ path: ['filter', condition], code: 'MALFORMED_DATE', message: dateTimeRule });
  }
  return BigInt(Math.floor(Date.parse(time) / unitMs) + (fraction.test(time) ? 1 : 0));
}

/** A page of keys. `count` counts all matching keys, and is called only if `totalCount` is selected. */
type OrgKeyPage = Awaited<ReturnType<typeof readConnectionPage<StoredKey>>> & { readonly count: () => Promise<number> };

/** An edge of a list of keys. */
const OrgKeyEdge = builder.edgeObject({
  type: OrgKey,
  name: 'OrgKeyEdge',
  description: 'A key and its cursor.',
});

const OrgKeyConnection = builder.connectionObject<typeof OrgKey, Promise<OrgKeyPage>>(
  {
    type: OrgKey,
    name: 'OrgKeyConnection',
    description: 'A page of keys.',
    fields: (t) => ({
      totalCount: t.int({
        nullable: true,
        description:
          'Total number of matching keys on all pages. Counted only if selected; the time grows with the number of matching keys. Null if they cannot be counted, such as within the time limit.',
        resolve: ({ count }) => count(),
      }),
    }),
  },
  OrgKeyEdge,
);

/** The arguments of a list of keys. */
const orgKeysArgs = builder.args((t) => ({
  filter: t.field({ type: OrgKeyFilter, description: 'The keys to return. Default: all that are not deleted.' }),
  orderBy: t.field({
    type: KeyOrderType,
    description: 'Order of the list. Default: ALIAS if the filter has `aliasPrefix` or `aliasContains`, else KEY_HASH.',
  }),
  descending: t.boolean({ defaultValue: false, description: 'Whether to reverse the order.' }),
}));

type OrgKeysArgs = InputShapeFromFields<typeof orgKeysArgs> & DefaultConnectionArguments;

/** Whether only `totalCount` is selected, so that no key has to be read. */
function isCountOnly(info: GraphQLResolveInfo): boolean {
  return selectedFields(info).every(({ name }) => ['totalCount', '__typename'].includes(name.value));
}

/** Whether this field of `pageInfo` is selected. */
function isSelected(info: GraphQLResolveInfo, flag: keyof PageFlags): boolean {
  return selectedFields(info)
    .filter(({ name }) => name.value === 'pageInfo')
    .some(({ selectionSet }) => fieldsIn(selectionSet, info.fragments).some(({ name }) => name.value === flag));
}

/** The functions that read a list of keys. */
interface KeySource {
  /** The organization whose keys are listed; undefined for all. */
  readonly orgID: string | undefined;
  readonly page: (query: PageRequest) => Promise<KeyPage>;
  readonly count: (filter: RequestedFilter) => Promise<number>;
}

/** Reads a page of keys. A key that cannot be read has an error as `node`, and its cursor. */
async function readOrgKeyPage(source: KeySource, args: OrgKeysArgs, info: GraphQLResolveInfo): Promise<OrgKeyPage> {
  const filter = toKeyFilter(args.filter);
  const orderBy = args.orderBy ?? defaultOrder(filter);
  const cursors = cursorsOf({
    filter: source.orgID === undefined ? filter : { ...filter, orgID: source.orgID },
    orderBy,
  });
  const page = await readConnectionPage<StoredKey>(args, async ({ before, after, limit, inverted }) => {
    const query: PageRequest = {
      filter,
      orderBy,
      // The last keys of an order are the first of the reverse order.
      descending: (args.descending ?? false) !== inverted,
      limit,
      ...(after !== undefined && { [inverted ? 'before' : 'after']: cursors.decode(after, 'after') }),
      ...(before !== undefined && { [inverted ? 'after' : 'before']: cursors.decode(before, 'before') }),
    };
    if (isCountOnly(info)) return { items: [] };
    const keyPage = await source.page(query);
    const hasCursor = (inverted ? before : after) !== undefined;
    const flag = inverted ? 'hasNextPage' : 'hasPreviousPage';
    const hasKeysBehind = hasCursor && isSelected(info, flag) && (await hasKeysBefore(source, query, keyPage));
    return { items: itemsOf(keyPage, orderBy, cursors.encode), flags: () => ({ [flag]: hasKeysBehind }) };
  });
  return { ...page, count: () => source.count(filter) };
}

/** Whether there are keys before the page in the order of the query, also if the key of its cursor is deleted. */
async function hasKeysBefore(source: KeySource, query: PageRequest, page: KeyPage): Promise<boolean> {
  const [first] = entriesOf(page);
  const from = first ? positionOfEntry(first, query.orderBy) : query.before;
  const { before: _before, ...reverse } = { ...query, descending: !query.descending, limit: 1, after: from };
  return entriesOf(await source.page(reverse)).length > 0;
}

/** The items of a page in its order. */
function itemsOf(
  page: KeyPage,
  orderBy: KeyOrder,
  encode: (position: KeyPosition) => string,
): ConnectionItem<StoredKey>[] {
  return entriesOf(page).map((entry) => ({
    cursor: encode(positionOfEntry(entry, orderBy)),
    node: 'key' in entry ? entry.key : entry.error,
  }));
}

builder.queryField('orgKeys', (t) =>
  t.connection(
    {
      type: OrgKey,
      nullable: true,
      description:
        'Lists keys, paginated. Requires a service credential; one that is bound to an organization lists only its keys. Null if an error is returned. Errors: INVALID if a page size or a cursor is not valid.',
      credential: 'service',
      args: orgKeysArgs,
      resolve: (caller, args, { keys }, info) =>
        readOrgKeyPage(
          {
            orgID: undefined,
            page: (query) => keys.listOrgKeys(caller, query),
            count: (filter) => keys.countOrgKeys(caller, filter),
          },
          args,
          info,
        ),
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
      extensions: { credential: 'service' },
      description:
        'Lists the keys of the organization, paginated as in `Query.orgKeys`; an empty page if it has none. Null with an error if they cannot be read.',
      args: orgKeysArgs,
      resolve: ({ orgID }, args, { loaders }, info) =>
        readOrgKeyPage(
          {
            orgID,
            page: (request) => loaders.pagesOfOrgs.load({ orgID, request }),
            count: (request) => loaders.countsOfOrgs.load({ orgID, request }),
          },
          args,
          info,
        ),
    },
    OrgKeyConnection,
    OrgKeyEdge,
  ),
);
