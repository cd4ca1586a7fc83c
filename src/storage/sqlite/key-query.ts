import type { KeyFilter, KeyOrder, KeyQuery } from '../../keys/key-query.js';
import { unixSeconds } from '../../lib/int64.js';
import { termsIn } from '../sql/key-filter.js';

export interface KeyQueryStatement {
  readonly sql: string;
  readonly parameters: Record<string, string | bigint>;
}

const orderColumns: Record<KeyOrder, string | undefined> = {
  KEY_HASH: undefined,
  ALIAS: 'k.alias',
  LAST_UPDATED: 'k.last_updated',
};

/** The most keys that are sorted for a page: as many as cost what it takes to find a page's worth among a million. */
export const maxSortedRows = 5000;

/**
 * Counts the keys that have the term by which a page would be found, up to one more than may be sorted. Undefined where
 * nothing is to be sorted.
 */
export function termCountStatement({ filter, orderBy }: KeyQuery): KeyQueryStatement | undefined {
  const [term] = termsIn(filter);
  if (term === undefined || orderColumns[orderBy] === undefined) return undefined;
  const owner = filter.orgID === undefined ? '' : ' AND org_id = @orgID';
  return {
    sql: `SELECT count(*) AS count FROM (SELECT 1 FROM key_terms WHERE term = @term${owner} LIMIT ${maxSortedRows + 1})`,
    parameters: { term, ...(filter.orgID !== undefined && { orgID: filter.orgID }) },
  };
}

/**
 * The statement for the hashes of a page of keys, and the sizes of their definitions. Values are parameters throughout; only our own column names are put together. Where
 * too many keys have a term for them to be sorted, `isCommon` goes through all keys in order instead.
 */
export function pageStatement(query: KeyQuery, isCommon = false): KeyQueryStatement {
  const direction = query.descending ? 'DESC' : 'ASC';
  const bounds = [
    { name: 'after', position: query.after, operator: query.descending ? '<' : '>' },
    { name: 'before', position: query.before, operator: query.descending ? '>' : '<' },
  ] as const;
  const isBounded = (operator: '<' | '>') => bounds.some((bound) => bound.position && bound.operator === operator);
  const { from, hash, conditions, parameters } = where(query.filter, query.now, {
    column: orderColumns[query.orderBy],
    isCommon,
    isBoundedBelow: isBounded('>'),
    isBoundedAbove: isBounded('<'),
  });
  const column = orderColumns[query.orderBy];
  for (const { name, position, operator } of bounds) {
    if (!position) continue;
    conditions.push(
      column ? `(${column}, ${hash}) ${operator} (@${name}Value, @${name}Hash)` : `${hash} ${operator} @${name}Hash`,
    );
    if (column) parameters[`${name}Value`] = position.value;
    parameters[`${name}Hash`] = position.keyHash;
  }
  const order = `${column ? `${column} ${direction}, ` : ''}${hash} ${direction}`;
  return {
    sql: `SELECT k.key_hash AS place, octet_length(k.definition) AS size FROM ${from} WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT @limit`,
    parameters: { ...parameters, limit: BigInt(query.limit) },
  };
}

export function countStatement(filter: KeyFilter, now: Date): KeyQueryStatement {
  const { from, conditions, parameters } = where(filter, now);
  return { sql: `SELECT count(*) AS count FROM ${from} WHERE ${conditions.join(' AND ')}`, parameters };
}

/** The column that a page is ordered by, and where cursors already bound it. */
interface Order {
  readonly column: string | undefined;
  readonly isCommon: boolean;
  readonly isBoundedBelow: boolean;
  readonly isBoundedAbove: boolean;
}

function where(filter: KeyFilter, now: Date, order?: Order) {
  const parameters: Record<string, string | bigint> = {};
  const conditions: string[] = ['in_time()'];
  const need = (condition: string, values: Record<string, string | bigint> = {}) => {
    conditions.push(condition);
    Object.assign(parameters, values);
  };
  // An index is entered at one bound. It has to be the cursor’s, or a late page would begin where the filter does; a
  // plus sign keeps SQLite from entering at the other.
  const lower = (column: string) => (order?.isBoundedBelow && order.column === column ? `+${column}` : column);
  const upper = (column: string) => (order?.isBoundedAbove && order.column === column ? `+${column}` : column);

  // A CROSS JOIN is read from left to right: the first term leads, in the order of hashes, and all others are looked up.
  const terms = termsIn(filter);
  const tables = terms.map((_, index) => `key_terms t${index}`);
  const termLeads = terms.length > 0 && !(order?.isCommon === true && order.column !== undefined);
  const from = (termLeads ? [...tables, 'keys k'] : ['keys k', ...tables]).join(' CROSS JOIN ');
  const [first, hash] = termLeads ? ['t0', 't0.key_hash'] : ['k', 'k.key_hash'];
  terms.forEach((found, index) => {
    need(`t${index}.term = @term${index}`, { [`term${index}`]: found });
    if (index > 0) need(`t${index}.key_hash = t0.key_hash`);
  });
  if (terms.length > 0) need('k.key_hash = t0.key_hash');

  if (filter.orgID !== undefined) need(`${first}.org_id = @orgID`, { orgID: filter.orgID });
  if (filter.aliasPrefix !== undefined && filter.aliasPrefix !== '') {
    need(`${lower('k.alias')} >= @prefix AND ${upper('k.alias')} < @prefixEnd`, {
      prefix: filter.aliasPrefix,
      // After every alias with the prefix: the last code point, repeated more often than an alias is long.
      prefixEnd: `${filter.aliasPrefix}${'\u{10ffff}'.repeat(256)}`,
    });
  }
  if (filter.expiresBefore !== undefined) {
    need('k.expires >= 1 AND k.expires < @expiresBefore', { expiresBefore: filter.expiresBefore });
  }
  if (filter.updatedSince !== undefined) {
    need(`${lower('k.last_updated')} >= @updatedSince`, { updatedSince: filter.updatedSince });
  }

  need(filter.state === 'DELETED' ? 'k.deleted IS NOT NULL' : 'k.deleted IS NULL');
  const seconds = { now: unixSeconds(now) };
  if (filter.state === 'INACTIVE') need('k.is_inactive = 1');
  if (filter.state === 'ACTIVE') need('k.is_inactive = 0 AND (k.expires < 1 OR k.expires > @now)', seconds);
  if (filter.state === 'EXPIRED') need('k.is_inactive = 0 AND k.expires >= 1 AND k.expires <= @now', seconds);
  return { from, hash, conditions, parameters };
}
