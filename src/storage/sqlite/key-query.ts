import type { KeyFilter, KeyOrder, KeyQuery } from '../../keys/store.js';
import { unixSeconds } from '../../keys/time.js';
import { term } from './key-row.js';

interface Statement {
  readonly sql: string;
  readonly parameters: Record<string, string | bigint>;
}

const orderColumns: Record<KeyOrder, string | undefined> = {
  KEY_HASH: undefined,
  ALIAS: 'k.alias',
  LAST_UPDATED: 'k.last_updated',
};

/** The statement for a page of keys. Values are parameters throughout; only our own column names are put together. */
export function pageStatement(query: KeyQuery): Statement {
  const { joins, conditions, parameters } = where(query.filter, query.now);
  const column = orderColumns[query.orderBy];
  const direction = query.descending ? 'DESC' : 'ASC';
  const compared = column ? `(${column}, k.key_hash)` : 'k.key_hash';
  for (const [name, position, operator] of [
    ['after', query.after, query.descending ? '<' : '>'],
    ['before', query.before, query.descending ? '>' : '<'],
  ] as const) {
    if (!position) continue;
    conditions.push(`${compared} ${operator} ${column ? `(@${name}Value, @${name}Hash)` : `@${name}Hash`}`);
    if (column) parameters[`${name}Value`] = position.value;
    parameters[`${name}Hash`] = position.keyHash;
  }
  const order = `${column ? `${column} ${direction}, ` : ''}k.key_hash ${direction}`;
  return {
    sql: `SELECT k.* FROM ${joins} WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT @limit`,
    parameters: { ...parameters, limit: BigInt(query.limit) },
  };
}

export function countStatement(filter: KeyFilter, now: Date): Statement {
  const { joins, conditions, parameters } = where(filter, now);
  return { sql: `SELECT count(*) AS count FROM ${joins} WHERE ${conditions.join(' AND ')}`, parameters };
}

function where(filter: KeyFilter, now: Date) {
  const parameters: Record<string, string | bigint> = {};
  const conditions: string[] = [];
  const need = (condition: string, values: Record<string, string | bigint> = {}) => {
    conditions.push(condition);
    Object.assign(parameters, values);
  };

  const terms = [
    filter.tag === undefined ? undefined : term.tag(filter.tag),
    filter.policy === undefined ? undefined : term.policy(filter.policy),
    filter.apiID === undefined ? undefined : term.api(filter.apiID),
  ].filter((found) => found !== undefined);
  const joins = [
    'keys k',
    ...terms.map((_, index) => `JOIN key_terms t${index} ON t${index}.key_hash = k.key_hash`),
  ].join(' ');
  terms.forEach((found, index) => {
    need(`t${index}.term = @term${index}`, { [`term${index}`]: found });
  });

  if (filter.orgID !== undefined) need('k.org_id = @orgID', { orgID: filter.orgID });
  if (filter.aliasPrefix !== undefined && filter.aliasPrefix !== '') {
    need('k.alias >= @prefix AND k.alias < @prefixEnd', {
      prefix: filter.aliasPrefix,
      prefixEnd: `${filter.aliasPrefix}\u{10ffff}`,
    });
  }
  if (filter.expiresBefore !== undefined) {
    need('k.expires >= 1 AND k.expires < @expiresBefore', { expiresBefore: filter.expiresBefore });
  }
  if (filter.updatedSince !== undefined) need('k.last_updated >= @updatedSince', { updatedSince: filter.updatedSince });

  need(filter.state === 'DELETED' ? 'k.deleted IS NOT NULL' : 'k.deleted IS NULL');
  const seconds = { now: unixSeconds(now) };
  if (filter.state === 'INACTIVE') need('k.is_inactive = 1');
  if (filter.state === 'ACTIVE') need('k.is_inactive = 0 AND (k.expires < 1 OR k.expires > @now)', seconds);
  if (filter.state === 'EXPIRED') need('k.is_inactive = 0 AND k.expires >= 1 AND k.expires <= @now', seconds);
  return { joins, conditions, parameters };
}
