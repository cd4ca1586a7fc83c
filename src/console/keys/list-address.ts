import type { OrgKeyState, OrgKeyFilter, OrgKeyOrder, OrgKeyRowsQueryVariables } from '../../client/client.js';
import { expiringDays } from '../key-state.js';

/** The names of the filters in the address, which contains no secret and can be shared. */
export const filterNames = ['name', 'org', 'tag', 'policy', 'api', 'state', 'expires', 'unused'] as const;

/** The name of a filter in the address. */
export type FilterName = (typeof filterNames)[number];

const pageSize = 50;
const states: readonly string[] = ['ACTIVE', 'INACTIVE', 'EXPIRED', 'DELETED'] satisfies OrgKeyState[];
const orders: readonly string[] = ['ALIAS', 'EXPIRES', 'KEY_HASH', 'LAST_UPDATED', 'LAST_USED'] satisfies OrgKeyOrder[];
const dayMs = 86_400_000;

/** Views that many people need: each is an address. */
export const views = {
  all: {},
  expiring: { state: 'ACTIVE', expires: String(expiringDays), sort: 'EXPIRES' },
  expired: { state: 'EXPIRED' },
  inactive: { state: 'INACTIVE' },
  deleted: { state: 'DELETED', sort: 'LAST_UPDATED', descending: 'yes' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The name of a view. */
export type ViewName = keyof typeof views;

/** The names of the views, in their order. */
export const viewNames = Object.keys(views) as ViewName[];

/** Reads the filter of the list from the address. `expires` and `unused` are numbers of days from now. */
export function filterOf(parameters: URLSearchParams, now = Date.now()): OrgKeyFilter {
  const value = (name: FilterName) => parameters.get(name) || undefined;
  const tags = parameters.getAll('tag').filter(Boolean);
  const state = value('state')
    ?.split(',')
    .filter((name) => states.includes(name)) as OrgKeyState[] | undefined;
  const days = Number(value('expires'));
  const unusedDays = Number(value('unused'));
  const filter: OrgKeyFilter = {
    orgID: value('org'),
    aliasContains: value('name'),
    tagsAll: tags.length > 0 ? tags : undefined,
    policy: value('policy'),
    apiID: value('api'),
    states: state?.length ? state : undefined,
    // The same within a minute, so that a page and its count have the same filter.
    expiresBefore: days > 0 ? new Date(Math.ceil(now / 60_000) * 60_000 + days * dayMs).toISOString() : undefined,
    unusedSince:
      unusedDays > 0 ? new Date(Math.floor(now / 60_000) * 60_000 - unusedDays * dayMs).toISOString() : undefined,
  };
  return Object.fromEntries(Object.entries(filter).filter(([, condition]) => condition !== undefined));
}

/** The view that an address shows, whatever its other filters are. */
export function viewOf(parameters: URLSearchParams): ViewName | undefined {
  return viewNames.find((name) => {
    const { state, expires }: { state?: string; expires?: string } = views[name];
    return (parameters.get('state') ?? undefined) === state && (parameters.get('expires') ?? undefined) === expires;
  });
}

/** The address of a view with the other filters of the present one. */
export function viewAddress(parameters: URLSearchParams, name: ViewName): string {
  const none = { state: undefined, expires: undefined, sort: undefined, descending: undefined };
  return listAddress(parameters, { ...none, ...views[name] });
}

/** Reads the order of the list from the address. */
export function orderOf(parameters: URLSearchParams): { orderBy: OrgKeyOrder; descending: boolean } {
  const order = parameters.get('sort') ?? '';
  return {
    orderBy: orders.includes(order) ? (order as OrgKeyOrder) : 'ALIAS',
    descending: parameters.has('descending'),
  };
}

/** Returns the variables of the page of keys that the address names. */
export function variablesOf(parameters: URLSearchParams): OrgKeyRowsQueryVariables {
  const before = parameters.get('before');
  const page = before === null ? { first: pageSize, after: parameters.get('after') } : { last: pageSize, before };
  return { filter: filterOf(parameters), ...orderOf(parameters), ...page };
}

/** The names of the filters that an address has. */
export function activeFilters(parameters: URLSearchParams): readonly (readonly [FilterName, string])[] {
  return filterNames.flatMap((name) => parameters.getAll(name).map((value) => [name, value] as const));
}

/** Returns the address of a list: the current one with some parameters replaced, on the first page unless one is named. */
export function listAddress(
  parameters: URLSearchParams,
  changes: Readonly<Record<string, string | undefined>>,
  path = '/console',
): string {
  const next = new URLSearchParams(parameters);
  next.delete('after');
  next.delete('before');
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(name);
    else next.set(name, value);
  }
  return `${path}${next.size > 0 ? `?${next.toString()}` : ''}`;
}

/** The address with a filter added. Several tags are allowed; any other filter has one value. */
export function withFilter(parameters: URLSearchParams, name: FilterName, value: string): string {
  if (name !== 'tag') return listAddress(parameters, { [name]: value });
  const next = new URLSearchParams(parameters);
  next.delete('tag', value);
  next.append('tag', value);
  return listAddress(next, {});
}

/** The address without a filter. */
export function withoutFilter(parameters: URLSearchParams, name: FilterName, value: string): string {
  const next = new URLSearchParams(parameters);
  next.delete(name, value);
  return listAddress(next, {});
}
