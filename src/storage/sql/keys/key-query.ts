import { stateOf, type KeyState, type StoredKey } from '../../../keys/key.js';
import { hasIdentifier, isNamedBy } from '../../../keys/identifiers.js';
import { containsPattern, createSearch } from '../../../keys/alias-search.js';
import { searchesAlias, type KeyFilter, type KeyOrder, type KeyQuery } from '../../../keys/key-query.js';
import { unixSeconds } from '../../../lib/int64.js';
import { term, termsOf } from '../../records/key-records.js';
import { isBindableText, type Dialect } from '../dialect.js';
import type { NumberOf } from '../name-numbers.js';
import { createParameters, type Add } from '../parameters.js';
import { isKeyHash, placeOf, placesOf } from '../place.js';
import type { Value, WideQuery } from '../session.js';

/** What a list is ordered by, before the number of the row; undefined for the number alone. */
function orderColumn(dialect: Dialect, orderBy: KeyOrder): string | undefined {
  const columns = {
    KEY_HASH: undefined,
    ALIAS: 'k.alias',
    LAST_UPDATED: 'k.last_updated',
    EXPIRES: 'k.expires',
    CREATED: dialect.creation,
    LAST_USED: 'k.last_used',
  };
  return columns[orderBy];
}

/** Whether one index has the keys of all organizations in an order, and none those of each. */
const isOrderOfAll = (orderBy: KeyOrder) => orderBy === 'CREATED' || orderBy === 'LAST_USED';

/** The maximum number of keys that are sorted for a page: sorting more costs more than finding a page among a million. */
export const maxSortedRows = 5000;

/** Whether a page may be found by a term, and sorted. */
export function sortsKeysOfTerm({ filter, orderBy }: KeyQuery): boolean {
  return termsIn(filter).length > 0 && (orderBy !== 'KEY_HASH' || searchesAlias(filter));
}

/**
 * Whether the keys with the alias and of the organization of the filter may be sorted: unless an index has them in the order.
 */
export function sortsCandidates({ filter, orderBy }: KeyQuery): boolean {
  if (isOrderOfAll(orderBy) && filter.orgID !== undefined) return true;
  return searchesAlias(filter) && ((filter.aliasContains ?? '') !== '' || orderBy !== 'ALIAS');
}

/** How a page is found, which depends on how many keys match. */
export interface PageLead {
  /** Whether too many keys have a term for them to be sorted, so that all keys are read in order. */
  readonly isTermCommon?: boolean;
  /** The rows of the candidates, if they are few enough to be sorted. */
  readonly rows?: readonly bigint[];
}

/** Finds the keys with the alias and of the organization of a filter in an index, up to one more than may be sorted. */
export function candidatesStatement(dialect: Dialect, filter: KeyFilter, numberOf: NumberOf): WideQuery {
  const { parameters, add } = createParameters();
  return { sql: `${candidates(dialect, filter, numberOf, add)} LIMIT ${maxSortedRows + 1}`, parameters };
}

/** Selects from an index alone: no row of a key is read. */
function candidates(dialect: Dialect, filter: KeyFilter, numberOf: NumberOf, add: Add): string {
  const isOfOrg = filter.orgID === undefined ? [] : [`a.org = ${add(numberOf('orgs', filter.orgID))}`];
  const conditions = [dialect.isInTime, ...isOfOrg, ...aliasConditions(dialect, filter, add, 'a.alias')];
  return `SELECT a.id FROM keys a WHERE ${conditions.join(' AND ')}`;
}

/** The conditions of an alias. The column of the prefix has a form for each bound, so that it enters an index or does not. */
function aliasConditions(
  { matches }: Dialect,
  { aliasPrefix = '', aliasContains = '' }: KeyFilter,
  add: Add,
  column: string,
  lower = column,
  upper = column,
): string[] {
  const conditions: string[] = [];
  if (!isBindableText(aliasPrefix + aliasContains)) conditions.push('false');
  if (aliasPrefix !== '') {
    // After every alias with the prefix: the last code point, repeated more often than an alias is long.
    const end = `${aliasPrefix}${'\u{10ffff}'.repeat(256)}`;
    conditions.push(`${lower} >= ${add(aliasPrefix)}`, `${upper} < ${add(end)}`);
  }
  if (aliasContains !== '') conditions.push(matches(column, add(containsPattern(aliasContains))));
  return conditions;
}

/**
 * Counts the keys that have the term by which a page would be found, up to one more than may be sorted. Undefined if no
 * keys are sorted.
 */
export function termCountStatement(query: KeyQuery, numberOf: NumberOf): WideQuery | undefined {
  const { filter } = query;
  const [term] = termsIn(filter);
  if (term === undefined || !sortsKeysOfTerm(query)) return undefined;
  const { parameters, add } = createParameters();
  const isOfTerm = `term = ${add(numberOf('terms', term))}`;
  const isOfOrg = filter.orgID === undefined ? '' : `AND org = ${add(numberOf('orgs', filter.orgID))}`;
  return {
    sql: `SELECT count(*) AS count FROM (SELECT 1 FROM key_terms WHERE ${isOfTerm} ${isOfOrg} LIMIT ${maxSortedRows + 1}) AS found`,
    parameters,
  };
}

/**
 * The statement for the rows of a page of keys and the sizes of their definitions. Values are parameters; only
 * our own column names are put together.
 */
export function pageStatement(
  dialect: Dialect,
  query: KeyQuery,
  numberOf: NumberOf,
  lead: PageLead = {},
  given: Value[] = [],
): WideQuery {
  const column = orderColumn(dialect, query.orderBy);
  const direction = query.descending ? 'DESC' : 'ASC';
  const bounds = [
    { position: query.after, operator: query.descending ? '<' : '>' },
    { position: query.before, operator: query.descending ? '>' : '<' },
  ] as const;
  const isBounded = (operator: '<' | '>') => bounds.some((bound) => bound.position && bound.operator === operator);
  const { from, id, conditions, add, parameters } = where(dialect, query.filter, numberOf, query.now, given, {
    column,
    isOfAll: isOrderOfAll(query.orderBy),
    lead,
    isBoundedBelow: isBounded('>'),
    isBoundedAbove: isBounded('<'),
  });
  for (const { position, operator } of bounds) {
    if (!position) continue;
    const place = add(placeOf(position.keyHash));
    // The key of the position may have been purged. Its place is between its neighbors, unless hashes share their beginning.
    const row = isKeyHash(position.keyHash)
      ? `coalesce((SELECT k.id FROM keys k WHERE ${dialect.isOfHash(add(position.keyHash), place)}), ${place})`
      : place;
    conditions.push(
      column
        ? `(${column}, ${id}) ${operator} (${add(position.value)}, ${dialect.rowID(row)})`
        : `${id} ${operator} ${row}`,
    );
  }
  const order = `${column ? `${column} ${direction}, ` : ''}${id} ${direction}`;
  const limit = add(BigInt(query.limit));
  return {
    sql: `SELECT k.id, octet_length(k.definition) AS size FROM ${from} WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ${limit}`,
    parameters,
  };
}

/** The pages of several organizations in one statement, one after another. */
export function orgPagesStatement(
  dialect: Dialect,
  query: KeyQuery,
  numberOf: NumberOf,
  orgIDs: readonly string[],
): WideQuery {
  const parameters: Value[] = [];
  const pages = orgIDs.map((orgID) => {
    const ofOrg = { ...query, filter: { ...query.filter, orgID } };
    const { sql } = pageStatement(dialect, ofOrg, numberOf, {}, parameters);
    return `SELECT id, size FROM (${sql}) AS page`;
  });
  return { sql: pages.join(' UNION ALL '), parameters };
}

/** Counts the keys of each of these organizations. Organizations without keys have no row. */
export function orgCountsStatement(
  dialect: Dialect,
  filter: KeyFilter,
  numberOf: NumberOf,
  now: Date,
  orgIDs: readonly string[],
): WideQuery {
  const { from, owner, conditions, parameters } = where(dialect, { ...filter, orgID: undefined }, numberOf, now);
  const isOfOrg = `${owner} ${dialect.inList(`$${parameters.length + 1}`, 'bigint')}`;
  return {
    sql: `SELECT ${owner} AS org, count(*) AS count FROM ${from} WHERE ${[...conditions, isOfOrg].join(' AND ')} GROUP BY ${owner}`,
    parameters: [...parameters, orgIDs.map((orgID) => numberOf('orgs', orgID))],
  };
}

/** Returns the statement that counts the keys of a filter. */
export function countStatement(dialect: Dialect, filter: KeyFilter, numberOf: NumberOf, now: Date): WideQuery {
  const { from, conditions, parameters } = where(dialect, filter, numberOf, now);
  return { sql: `SELECT count(*) AS count FROM ${from} WHERE ${conditions.join(' AND ')}`, parameters };
}

/** The column that a page is ordered by, how it is found, and on which sides cursors bound it. */
interface Order {
  readonly column: string | undefined;
  /** Whether the index of the order has no organizations. */
  readonly isOfAll: boolean;
  readonly lead: PageLead;
  readonly isBoundedBelow: boolean;
  readonly isBoundedAbove: boolean;
}

function where(dialect: Dialect, filter: KeyFilter, numberOf: NumberOf, now: Date, given: Value[] = [], order?: Order) {
  const { isInTime, isOfHash, hashes, bytesOf, withoutIndex, inList, byNumber } = dialect;
  const { parameters, add } = createParameters(given);
  const conditions: string[] = [isInTime];
  const { rows, isTermCommon = false } = order?.lead ?? {};
  // An index scan starts at one bound, which must be that of the cursor: otherwise a late page starts at the filter's bound.
  const lower = (column: string) => (order?.isBoundedBelow && order.column === column ? withoutIndex(column) : column);
  const upper = (column: string) => (order?.isBoundedAbove && order.column === column ? withoutIndex(column) : column);

  // SQLite reads a CROSS JOIN from left to right: the first term leads, in the order of hashes, and all others are looked up.
  const terms = termsIn(filter);
  const tables = terms.map((_, index) => `key_terms t${index}`);
  const termLeads = terms.length > 0 && !rows && !(isTermCommon && order?.column !== undefined);
  const keys = rows ? `keys k ${byNumber}` : 'keys k';
  const from = (termLeads ? [...tables, keys] : [keys, ...tables]).join(' CROSS JOIN ');
  const [first, id] = termLeads ? ['t0', 't0.key'] : ['k', 'k.id'];
  terms.forEach((found, index) => {
    conditions.push(`t${index}.term = ${add(numberOf('terms', found))}`);
    if (index > 0) conditions.push(`t${index}.key = t0.key`);
  });
  if (terms.length > 0) conditions.push('k.id = t0.key');

  if (filter.orgID !== undefined) {
    // Keys that are named are found by their hashes: by the organization, SQLite would read all rows of it.
    const isNamed = filter.keyHashes !== undefined || filter.identifierHashes !== undefined;
    const isLookedUp = isNamed || (order?.isOfAll && !termLeads);
    const org = isLookedUp ? withoutIndex(`${first}.org`) : `${first}.org`;
    conditions.push(`${org} = ${add(numberOf('orgs', filter.orgID))}`);
  }
  if (rows) conditions.push(`k.id ${inList(add(rows), 'bigint')}`);
  if (order && order.column !== 'k.alias') {
    const alias = withoutIndex('k.alias');
    conditions.push(...aliasConditions(dialect, filter, add, alias));
  } else if (order) {
    conditions.push(...aliasConditions(dialect, filter, add, 'k.alias', lower('k.alias'), upper('k.alias')));
  } else if (searchesAlias(filter)) {
    conditions.push(`k.id IN (${candidates(dialect, filter, numberOf, add)})`);
  }
  if (filter.expiresBefore !== undefined) {
    conditions.push(`k.expires >= 1 AND k.expires < ${add(filter.expiresBefore)}`);
  }
  if (filter.updatedSince !== undefined) {
    conditions.push(`${lower('k.last_updated')} >= ${add(filter.updatedSince)}`);
  }
  if (filter.unusedSince !== undefined) {
    // Many keys match, so that the index of all organizations is no way to those of one, unless for its order.
    const isEntered = filter.orgID === undefined || order?.column === 'k.last_used';
    conditions.push(`${isEntered ? upper('k.last_used') : 'k.last_used + 0'} < ${add(filter.unusedSince)}`);
  }

  // Of a key that was rotated, the own hash may be that of an identifier that has retired.
  for (const [named, isNamed] of [
    [filter.keyHashes, 'true'],
    [filter.identifierHashes, 'k.identifiers IS NULL'],
  ] as const) {
    if (named === undefined) continue;
    const wanted = `${hashes(add(placesOf(named.filter(isKeyHash))))} AS w`;
    const isAccepted = `(i.retires IS NULL OR i.retires > ${add(BigInt(now.getTime()))})`;
    // By a sub-select, which PostgreSQL does not turn into a scan.
    conditions.push(
      `${id} IN (
        SELECT k.id FROM ${wanted} CROSS JOIN keys k WHERE ${isOfHash('w.hash', 'w.place')} AND ${isNamed}
        UNION ALL
        SELECT (SELECT i.key FROM identifiers i WHERE i.key_hash = ${bytesOf('w.hash')} AND ${isAccepted}) FROM ${wanted}
      )`,
    );
  }
  if (filter.tagsAny !== undefined) {
    const numbers = filter.tagsAny.map((tag) => add(numberOf('terms', term.tag(tag)))).join(', ');
    const isOfOrg = filter.orgID === undefined ? '' : `AND a.org = ${add(numberOf('orgs', filter.orgID))}`;
    conditions.push(`${id} IN (SELECT a.key FROM key_terms a WHERE ${isInTime} AND a.term IN (${numbers}) ${isOfOrg})`);
  }
  conditions.push(stateCondition(filter.states, () => add(unixSeconds(now))));
  return { from, id, owner: `${first}.org`, conditions, add, parameters };
}

/** The condition that a key is in one of these states; by default in any but DELETED. */
function stateCondition(states: KeyFilter['states'], seconds: () => string): string {
  if (states === undefined) return 'k.deleted IS NULL';
  const isLive = 'k.deleted IS NULL AND k.is_inactive = 0';
  const conditions: Record<KeyState, () => string> = {
    DELETED: () => 'k.deleted IS NOT NULL',
    INACTIVE: () => 'k.deleted IS NULL AND k.is_inactive = 1',
    ACTIVE: () => `${isLive} AND (k.expires < 1 OR k.expires > ${seconds()})`,
    EXPIRED: () => `${isLive} AND k.expires >= 1 AND k.expires <= ${seconds()}`,
  };
  const [only, ...others] = [...new Set(states)].map((state) => conditions[state]());
  return others.length === 0 ? (only ?? 'false') : `((${[only, ...others].join(') OR (')}))`;
}

const isMatch = createSearch();

/** Whether a key matches the query: the same conditions as those of the SQL, for a key that was read. */
export function matchesFilter({ filter, now }: KeyQuery, key: StoredKey): boolean {
  const { alias = '', expires = 0n } = key.definition;
  const wanted = termsIn(filter);
  const anyOf = filter.tagsAny?.map(term.tag);
  const terms = wanted.length > 0 || anyOf ? termsOf(key) : new Set();
  const state = stateOf(key, now);
  return (
    (filter.orgID === undefined || key.orgID === filter.orgID) &&
    alias.startsWith(filter.aliasPrefix ?? '') &&
    isMatch(alias, containsPattern(filter.aliasContains ?? '')) &&
    (filter.expiresBefore === undefined || (expires >= 1n && expires < filter.expiresBefore)) &&
    (filter.updatedSince === undefined || key.lastUpdated >= filter.updatedSince) &&
    (filter.unusedSince === undefined || (key.lastUsed ?? 0n) < filter.unusedSince) &&
    (filter.states === undefined ? state !== 'DELETED' : filter.states.includes(state)) &&
    (filter.keyHashes?.some((hash) => isNamedBy(key, hash, now)) ?? true) &&
    (filter.identifierHashes?.some((hash) => hasIdentifier(key, hash, now)) ?? true) &&
    (anyOf?.some((one) => terms.has(one)) ?? true) &&
    wanted.every((term) => terms.has(term))
  );
}

/** The terms of a filter. A key must have each of them. */
export function termsIn({ tagsAll = [], policy, apiID }: KeyFilter): string[] {
  return [
    ...new Set(tagsAll.map(term.tag)),
    policy === undefined ? undefined : term.policy(policy),
    apiID === undefined ? undefined : term.api(apiID),
  ].filter((found) => found !== undefined);
}
