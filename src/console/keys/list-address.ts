import type { OrgKeyState, OrgKeyFilter, OrgKeyOrder, OrgKeyRowsQueryVariables } from '../../client/client.js';

/** The names of the filters in the address, which contains no secret and can be shared. */
export const filterNames = ['org', 'alias', 'tag', 'policy', 'api', 'state', 'expires'] as const;

const pageSize = 50;
const states: readonly string[] = ['ACTIVE', 'INACTIVE', 'EXPIRED', 'DELETED'] satisfies OrgKeyState[];
const orders: readonly string[] = ['ALIAS', 'KEY_HASH', 'LAST_UPDATED'] satisfies OrgKeyOrder[];

/** Reads the filter of the list from the address. */
export function filterOf(parameters: URLSearchParams): OrgKeyFilter {
  const value = (name: (typeof filterNames)[number]) => parameters.get(name) || undefined;
  const [tag, state] = [value('tag'), value('state')];
  const expires = Date.parse(value('expires') ?? '');
  const filter = {
    orgID: value('org'),
    aliasPrefix: value('alias'),
    tagsAll: tag === undefined ? undefined : [tag],
    policy: value('policy'),
    apiID: value('api'),
    states: state !== undefined && states.includes(state) ? [state as OrgKeyState] : undefined,
    expiresBefore: Number.isNaN(expires) ? undefined : new Date(expires).toISOString(),
  };
  return Object.fromEntries(Object.entries(filter).filter(([, condition]) => condition !== undefined));
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

/** Returns the address of a list: the current one with some parameters replaced, on the first page unless one is named. */
export function listAddress(
  parameters: URLSearchParams,
  changes: Readonly<Record<string, string | undefined>>,
): string {
  const next = new URLSearchParams(parameters);
  next.delete('after');
  next.delete('before');
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(name);
    else next.set(name, value);
  }
  return `/console${next.size > 0 ? `?${next.toString()}` : ''}`;
}
