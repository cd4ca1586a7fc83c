import { keyTable, revisionTable } from '../records/key-records.js';
import type { Dialect } from './dialect.js';
import { nearKeys } from './place.js';

/** The condition of the index of versions, without which a statement does not use it. */
export const isIndexed = (row: string) => `${row}.version % ${indexedVersions} = 1`;

/** One of so many versions is in the index. The layout has the number, too. */
const indexedVersions = 32;

/** The texts of rows whose organizations, actors and hashes are stored as numbers and bytes. Signatures cover the texts. */
export function rowTexts({ hexOf }: Pick<Dialect, 'hexOf'>) {
  const own = (row: string, names: readonly string[], others: Readonly<Record<string, string>>) =>
    names.map((name) => `${others[name] ?? `${row}.${name}`} AS ${name}`).join(', ');

  // No joins, of which PostgreSQL may read whole tables. Without its text, a row is damaged, and not missing.
  const orgOf = (row: string) => `(SELECT o.name FROM orgs o WHERE o.id = ${row}.org)`;
  const actorOf = (column: string) => `(SELECT a.${column} FROM actors a WHERE a.id = h.actor)`;

  // The definition after an entry that has no changes: that of the key, or the one before version 2.
  const firstDefinition = `CASE WHEN h.changes IS NULL THEN (
      SELECT CASE WHEN f.version = 1 THEN f.definition ELSE (
        WITH RECURSIVE back (id, version, previous) AS (
          SELECT s.id, s.version, s.previous FROM history s WHERE s.key = f.id AND s.id = coalesce((
            SELECT i.id FROM history i WHERE i.key = f.id AND i.version = ${indexedVersions + 1} AND ${isIndexed('i')}
          ), f.head)
          UNION ALL
          SELECT s.id, s.version, s.previous FROM back b CROSS JOIN history s
          WHERE s.id = b.previous AND b.version > 2 AND s.key = h.key AND s.version = b.version - 1
        )
        SELECT s.before FROM back b CROSS JOIN history s WHERE b.version = 2 AND s.id = b.id
      ) END FROM keys f WHERE f.id = h.key
    ) END`;

  return {
    /** The columns of `StoredKeyRow`, of the rows `k` of `keys`. */
    keyColumns: `k.id, k.head, k.last_used, ${own('k', keyTable.columnNames, { key_hash: hexOf('k.key_hash'), org_id: orgOf('k') })}`,
    /** The columns of `StoredRevisionRow`, of the rows `h` of `history`. */
    entryColumns: `h.id, h.key, ${own('h', revisionTable.columnNames, {
      key_hash: hexOf('h.key_hash'),
      org_id: orgOf('h'),
      credential_id: actorOf('credential_id'),
      credential_label: actorOf('label'),
    })}, ${firstDefinition} AS first_definition`,
  };
}

/** The size of an entry of the history in bytes, as an expression over the row `h`. */
export const entrySize = `CAST(coalesce(octet_length(h.before), 0) + coalesce(octet_length(h.changes), (
    SELECT octet_length(f.definition) FROM keys f WHERE f.id = h.key
  ), 0) AS bigint)`;

/**
 * The common tables of a statement over the entries of several spans, of which `spans` has the rows `span_index`, `hash`,
 * `place`, `first` and `newest`. `walk` has an entry for each version of a span, and some of later versions, before which an
 * index or the key enters the history: at most 31 of them.
 */
export function walk({ isOfHash }: Pick<Dialect, 'isOfHash'>, spans: string): string {
  return `WITH RECURSIVE walk (span_index, first, newest, id, key, version, previous) AS (
    SELECT w.span_index, w.first, w.newest, h.id, h.key, h.version, h.previous
    FROM ${spans} AS w CROSS JOIN keys k CROSS JOIN history h
    WHERE ${isOfHash('w.hash', 'w.place')} AND h.key = k.id AND h.id = coalesce((
      SELECT i.id FROM history i WHERE i.key = k.id AND i.version >= w.newest AND ${isIndexed('i')}
      ORDER BY i.version LIMIT 1
    ), k.head)
    UNION ALL
    SELECT w.span_index, w.first, w.newest, h.id, h.key, h.version, h.previous
    FROM walk w CROSS JOIN history h
    WHERE h.id = w.previous AND w.version > w.first AND h.key = w.key AND h.version = w.version - 1
  )`;
}

/** The condition that the row `h` is of the history of a hash, whose key may be missing. The index has its first versions. */
export function isOfLostKey({ bytesOf }: Pick<Dialect, 'bytesOf'>, hash: string, place: string): string {
  // A list, and no range: PostgreSQL cannot estimate how many keys a range has.
  const near = Array.from({ length: nearKeys }, (_, index) => `CAST(${place} AS bigint) + ${index}`);
  return `h.key IN (${near.join(', ')}) AND ${isIndexed('h')} AND h.key_hash = ${bytesOf(hash)}`;
}
