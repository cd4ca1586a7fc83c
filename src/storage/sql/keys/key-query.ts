import { stateOf, type KeyState, type StoredKey } from '../../../keys/key.js';
import type { KeyFilter, KeyOrder, KeyQuery, NameQuery } from '../../../keys/key-query.js';
import { unixSeconds } from '../../../lib/int64.js';
import { term, termsOf } from '../../records/key-records.js';
import { isBindableText, type Dialect } from '../dialect.js';
import type { NumberOf } from '../name-numbers.js';
import { isKeyHash, placeOf, placesOf } from '../place.js';
import type { WideQuery } from '../session.js';

const orderColumns: Record<KeyOrder, string | undefined> = {
  KEY_HASH: undefined,
  ALIAS: 'k.alias',
  LAST_UPDATED: 'k.last_updated',
  EXPIRES: 'k.expires',
};

/** The maximum number of keys that are sorted for a page: sorting more costs more than finding a page among a million. */
export const maxSortedRows = 5000;

/** Collects the parameters of a statement. Cursors may contain NUL, which is replaced by the next character in their order. */
function createParameters(parameters: (string | bigint)[] = []) {
  const add = (value: string | bigint) => {
    parameters.push(typeof value === 'string' ? value.replaceAll('\0', '\u0001') : value);
    return `$${parameters.length}`;
  };
  return { parameters, add };
}

/** Whether a page may be found by a term, and sorted. */
export function sortsKeysOfTerm({ filter, orderBy }: KeyQuery): boolean {
  return termsIn(filter).length > 0 && orderColumns[orderBy] !== undefined;
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
 * our own column names are put together. If too many keys have a term for them to be sorted, `isCommon` reads all keys in
 * order instead.
 */
export function pageStatement(
  dialect: Dialect,
  query: KeyQuery,
  numberOf: NumberOf,
  isCommon = false,
  given: (string | bigint)[] = [],
): WideQuery {
  const column = orderColumns[query.orderBy];
  const direction = query.descending ? 'DESC' : 'ASC';
  const bounds = [
    { position: query.after, operator: query.descending ? '<' : '>' },
    { position: query.before, operator: query.descending ? '>' : '<' },
  ] as const;
  const isBounded = (operator: '<' | '>') => bounds.some((bound) => bound.position && bound.operator === operator);
  const { from, id, conditions, add, parameters } = where(dialect, query.filter, numberOf, query.now, given, {
    column,
    isCommon,
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
  const parameters: (string | bigint)[] = [];
  const pages = orgIDs.map((orgID) => {
    const ofOrg = { ...query, filter: { ...query.filter, orgID } };
    const { sql } = pageStatement(dialect, ofOrg, numberOf, false, parameters);
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

/** Returns the statement for a page of the organizations that own keys which are not deleted. */
export function organizationsStatement({ isInTime }: Dialect, query: NameQuery): WideQuery {
  const { parameters, add } = createParameters();
  const hasKeys = 'EXISTS (SELECT 1 FROM keys k WHERE k.org = n.id AND k.deleted IS NULL)';
  return { sql: `SELECT n.name FROM orgs n WHERE ${isInTime} AND ${hasKeys} ${rangeOf(query, add)}`, parameters };
}

/** Returns the statement for a page of the tags of each of these organizations, one after another. */
export function tagsOfOrgsStatement({ isInTime }: Dialect, query: NameQuery, orgs: readonly bigint[]): WideQuery {
  const { parameters, add } = createParameters();
  const terms = {
    ...query,
    after: query.after === undefined ? undefined : term.tag(query.after),
    before: query.before === undefined ? undefined : term.tag(query.before),
  };
  const pages = orgs.map((number) => {
    const org = `CAST(${add(number)} AS bigint)`;
    const hasKeys = `EXISTS (SELECT 1 FROM key_terms t CROSS JOIN keys k WHERE t.org = ${org} AND t.term = n.id AND k.id = t.key AND k.deleted IS NULL)`;
    // In byte order, `;` follows `:`.
    const isTag = "n.name > 't:' AND n.name < 't;'";
    const page = `SELECT ${org} AS org, n.name FROM terms n WHERE ${isInTime} AND ${isTag} AND ${hasKeys} ${rangeOf(terms, add)}`;
    return `SELECT org, name FROM (${page}) AS page`;
  });
  return { sql: pages.join(' UNION ALL '), parameters };
}

/** The end of a statement for a page of names `n`. */
function rangeOf({ after, before, descending, limit }: NameQuery, add: (value: string | bigint) => string): string {
  const lower = after === undefined ? '' : `AND n.name > ${add(after)}`;
  const upper = before === undefined ? '' : `AND n.name < ${add(before)}`;
  return `${lower} ${upper} ORDER BY n.name ${descending ? 'DESC' : 'ASC'} LIMIT ${add(BigInt(limit))}`;
}

/** The column that a page is ordered by, and on which sides cursors bound it. */
interface Order {
  readonly column: string | undefined;
  readonly isCommon: boolean;
  readonly isBoundedBelow: boolean;
  readonly isBoundedAbove: boolean;
}

function where(
  { isInTime, isOfHash, hashes, withoutIndex }: Dialect,
  filter: KeyFilter,
  numberOf: NumberOf,
  now: Date,
  given: (string | bigint)[] = [],
  order?: Order,
) {
  const { parameters, add } = createParameters(given);
  const conditions: string[] = [isInTime];
  if (!isBindableText(filter.aliasPrefix ?? '')) conditions.push('false');
  // An index scan starts at one bound, which must be that of the cursor: otherwise a late page starts at the filter's bound.
  const lower = (column: string) => (order?.isBoundedBelow && order.column === column ? withoutIndex(column) : column);
  const upper = (column: string) => (order?.isBoundedAbove && order.column === column ? withoutIndex(column) : column);

  // SQLite reads a CROSS JOIN from left to right: the first term leads, in the order of hashes, and all others are looked up.
  const terms = termsIn(filter);
  const tables = terms.map((_, index) => `key_terms t${index}`);
  const termLeads = terms.length > 0 && !(order?.isCommon === true && order.column !== undefined);
  const from = (termLeads ? [...tables, 'keys k'] : ['keys k', ...tables]).join(' CROSS JOIN ');
  const [first, id] = termLeads ? ['t0', 't0.key'] : ['k', 'k.id'];
  terms.forEach((found, index) => {
    conditions.push(`t${index}.term = ${add(numberOf('terms', found))}`);
    if (index > 0) conditions.push(`t${index}.key = t0.key`);
  });
  if (terms.length > 0) conditions.push('k.id = t0.key');

  if (filter.orgID !== undefined) conditions.push(`${first}.org = ${add(numberOf('orgs', filter.orgID))}`);
  if (filter.aliasPrefix !== undefined && filter.aliasPrefix !== '') {
    // After every alias with the prefix: the last code point, repeated more often than an alias is long.
    const end = `${filter.aliasPrefix}${'\u{10ffff}'.repeat(256)}`;
    conditions.push(`${lower('k.alias')} >= ${add(filter.aliasPrefix)}`, `${upper('k.alias')} < ${add(end)}`);
  }
  if (filter.expiresBefore !== undefined) {
    conditions.push(`k.expires >= 1 AND k.expires < ${add(filter.expiresBefore)}`);
  }
  if (filter.updatedSince !== undefined) {
    conditions.push(`${lower('k.last_updated')} >= ${add(filter.updatedSince)}`);
  }

  if (filter.keyHashes !== undefined) {
    const wanted = hashes(add(placesOf(filter.keyHashes.filter(isKeyHash))));
    conditions.push(
      `${id} IN (SELECT k.id FROM ${wanted} AS w CROSS JOIN keys k WHERE ${isOfHash('w.hash', 'w.place')})`,
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
    (filter.expiresBefore === undefined || (expires >= 1n && expires < filter.expiresBefore)) &&
    (filter.updatedSince === undefined || key.lastUpdated >= filter.updatedSince) &&
    (filter.states === undefined ? state !== 'DELETED' : filter.states.includes(state)) &&
    (filter.keyHashes?.includes(key.keyHash) ?? true) &&
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
