import type { ReadBudget } from '../../keys/read-budget.js';
import type { StoredKeyRow } from '../records/key-records.js';
import { postgresDialect } from '../sql/dialect.js';
import { rowTexts } from '../sql/rows.js';
import type { SizeLimit, WideQuery, WideReader } from '../sql/session.js';
import type { PgPool } from './pool.js';

/** The row of a key, or of one that was not read. */
type PlacedKey = { readonly page_count: bigint; readonly page_bytes: bigint } & (
  StoredKeyRow | { readonly [column in keyof StoredKeyRow]: null }
);

/** Reads in one snapshot each, on connections of their own. */
export function createPgWideReader({ run }: PgPool): WideReader {
  const many = <Row>({ sql, parameters }: WideQuery, reads?: ReadBudget) => {
    const work = () => run((session) => session.query<Row>(sql, parameters));
    return reads ? reads.inOrder(work) : work();
  };

  return {
    many,
    few: many,
    async keys<Row>(query: WideQuery, limit: SizeLimit, reads?: ReadBudget) {
      const placed = await many<PlacedKey>(withKeys(query, limit), reads);
      const [first] = placed;
      return {
        rows: placed.filter(({ id }) => id !== null) as Row[],
        found: { count: Number(first?.page_count ?? 0n), bytes: Number(first?.page_bytes ?? 0n) },
      };
    },
  };
}

const { keyColumns } = rowTexts(postgresDialect);

/** The rows of the keys that are within the limit. Each has the number of keys of the query and the size of their definitions. */
function withKeys({ sql, parameters }: WideQuery, { maxBytes, mayCut }: SizeLimit): WideQuery {
  const max = `$${parameters.length + 1}`;
  const isWithin = mayCut ? `(p.so_far <= ${max} OR p.nth = 1)` : `p.bytes <= ${max}`;
  return {
    sql: `WITH page AS MATERIALIZED (${sql}),
      numbered AS (SELECT id, size, row_number() OVER () AS nth FROM page),
      sized AS (
        SELECT id, nth, sum(size) OVER (ORDER BY nth)::bigint AS so_far, sum(size) OVER ()::bigint AS bytes,
          count(*) OVER () AS count
        FROM numbered
      )
      SELECT p.count AS page_count, p.bytes AS page_bytes, ${keyColumns}
      FROM sized p LEFT JOIN keys k ON k.id = p.id AND ${isWithin} ORDER BY p.nth`,
    parameters: [...parameters, BigInt(maxBytes)],
  };
}
