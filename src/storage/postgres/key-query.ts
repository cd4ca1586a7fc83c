import type { KeyFilter, KeyOrder, KeyQuery } from '../../keys/key-query.js';
import { unixSeconds } from '../../lib/int64.js';
import { termsIn } from '../sql/key-filter.js';
import { isBindableText } from '../sql/dialect.js';

export interface PostgresStatement {
  readonly sql: string;
  readonly parameters: readonly (string | bigint)[];
}

const orderColumns: Record<KeyOrder, { readonly name: string; readonly type: string } | undefined> = {
  KEY_HASH: undefined,
  ALIAS: { name: 'k.alias', type: 'text' },
  LAST_UPDATED: { name: 'k.last_updated', type: 'bigint' },
};

/** The statement for a page of keys. Values are parameters throughout; only our own column names are put together. */
export function pageStatement(query: KeyQuery, columns = 'k.*'): PostgresStatement {
  const { from, hash, conditions, add, parameters } = where(query.filter, query.now);
  const column = orderColumns[query.orderBy];
  const bounds = [
    { position: query.after, operator: query.descending ? '<' : '>' },
    { position: query.before, operator: query.descending ? '>' : '<' },
  ];
  for (const { position, operator } of bounds) {
    if (!position) continue;
    conditions.push(
      column
        ? `(${column.name}, ${hash}) ${operator} (${add(position.value)}::${column.type}, ${add(position.keyHash)})`
        : `${hash} ${operator} ${add(position.keyHash)}`,
    );
  }
  const direction = query.descending ? 'DESC' : 'ASC';
  const order = `${column ? `${column.name} ${direction}, ` : ''}${hash} ${direction}`;
  const limit = add(BigInt(query.limit));
  return {
    sql: `SELECT ${columns} FROM ${from} WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ${limit}`,
    parameters,
  };
}

/**
 * The rows of a page, within one snapshot: as many as have definitions of `maxBytes` together and at least one, or, when
 * the page may not be cut, all or none. Each row has the number of keys of the page and the size of their definitions.
 */
export function boundedPageStatement(query: KeyQuery, maxBytes: bigint, mayCut: boolean): PostgresStatement {
  const { sql, parameters } = pageStatement(query, 'k.key_hash, octet_length(k.definition) AS size');
  const max = `$${parameters.length + 1}`;
  const isWithin = mayCut ? `(p.so_far <= ${max} OR p.place = 1)` : `p.bytes <= ${max}`;
  return {
    sql: `WITH page AS MATERIALIZED (${sql}),
      placed AS (SELECT key_hash, size, row_number() OVER () AS place FROM page),
      sized AS (
        SELECT key_hash, place, sum(size) OVER (ORDER BY place)::bigint AS so_far, sum(size) OVER ()::bigint AS bytes,
          count(*) OVER () AS count
        FROM placed
      )
      SELECT p.count AS page_count, p.bytes AS page_bytes, k.*
      FROM sized p LEFT JOIN keys k ON k.key_hash = p.key_hash AND ${isWithin} ORDER BY p.place`,
    parameters: [...parameters, maxBytes],
  };
}

export function countStatement(filter: KeyFilter, now: Date): PostgresStatement {
  const { from, conditions, parameters } = where(filter, now);
  return { sql: `SELECT count(*) AS count FROM ${from} WHERE ${conditions.join(' AND ')}`, parameters };
}

function where(filter: KeyFilter, now: Date) {
  const parameters: (string | bigint)[] = [];
  const add = (value: string | bigint) => {
    parameters.push(asStorable(value));
    return `$${parameters.length}`;
  };
  const conditions: string[] = [];
  const texts = [filter.orgID, filter.aliasPrefix, filter.tag, filter.policy, filter.apiID];
  if (!texts.every((text) => isBindableText(text ?? ''))) conditions.push('false');

  // Keys are found by their first term in the order of hashes; the others are looked up.
  const terms = termsIn(filter);
  const tables = terms.map((_, index) => `key_terms t${index}`);
  const [first, hash] = terms.length > 0 ? ['t0', 't0.key_hash'] : ['k', 'k.key_hash'];
  terms.forEach((term, index) => {
    conditions.push(`t${index}.term = ${add(term)}`, `k.key_hash = t${index}.key_hash`);
  });

  if (filter.orgID !== undefined) conditions.push(`${first}.org_id = ${add(filter.orgID)}`);
  if (filter.aliasPrefix !== undefined && filter.aliasPrefix !== '') {
    // After every alias with the prefix: the last code point, repeated more often than an alias is long.
    const end = `${filter.aliasPrefix}${'\u{10ffff}'.repeat(256)}`;
    conditions.push(`k.alias >= ${add(filter.aliasPrefix)} AND k.alias < ${add(end)}`);
  }
  if (filter.expiresBefore !== undefined) {
    conditions.push(`k.expires >= 1 AND k.expires < ${add(filter.expiresBefore)}`);
  }
  if (filter.updatedSince !== undefined) conditions.push(`k.last_updated >= ${add(filter.updatedSince)}`);

  conditions.push(filter.state === 'DELETED' ? 'k.deleted IS NOT NULL' : 'k.deleted IS NULL');
  if (filter.state === 'INACTIVE') conditions.push('k.is_inactive = 1');
  if (filter.state === 'ACTIVE') {
    conditions.push(`k.is_inactive = 0 AND (k.expires < 1 OR k.expires > ${add(unixSeconds(now))})`);
  }
  if (filter.state === 'EXPIRED') {
    conditions.push(`k.is_inactive = 0 AND k.expires >= 1 AND k.expires <= ${add(unixSeconds(now))}`);
  }
  return { from: ['keys k', ...tables].join(', '), hash, conditions, add, parameters };
}

/** A cursor may contain any text; NUL is replaced by the next character in the order of texts. */
function asStorable(value: string | bigint): string | bigint {
  return typeof value === 'string' ? value.replaceAll('\0', '\u0001') : value;
}
