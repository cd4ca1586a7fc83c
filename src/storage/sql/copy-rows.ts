import { keyColumns } from '../records/key.js';
import { revisionColumns } from '../records/revision.js';
import { smallTables, type CopiedRow, type HashRange, type RowSource } from './copy-store.js';
import { createSettings } from './settings.js';
import { unprepared, type SqlSession, type Value } from './session.js';

/** The tables that are copied in ranges of hashes: their columns, their order and the number of rows of a chunk. */
export const rangeTables = {
  keys: { columns: [...keyColumns, 'mac'], second: undefined, chunkSize: 200 },
  audit: { columns: ['id', ...revisionColumns, 'mac'], second: 'version_after', chunkSize: 500 },
  // Without an index on the key in SQLite, each chunk reads the whole table.
  key_terms: { columns: ['term', 'key_hash', 'org_id'], second: 'term', chunkSize: 10_000 },
} as const;

/** A table that is copied in ranges of hashes. */
export type RangeTable = keyof typeof rangeTables;

/** After every hash. */
export const endOfHashes = '~';

/** The rows of a database that is copied, or that a copy is verified in. */
export function createRowSource(session: SqlSession): RowSource {
  const { all } = session;
  const settings = createSettings(session);

  function rowsOf(table: RangeTable): RowSource['keys'] {
    const { columns, second, chunkSize } = rangeTables[table];
    const order = second === undefined ? 'key_hash' : `key_hash, ${second}`;
    const select = `SELECT ${columns.join(', ')} FROM ${table} WHERE key_hash <= $1`;
    const first = unprepared(`${select} AND key_hash > $2 ORDER BY ${order} LIMIT ${chunkSize}`);
    const next =
      second === undefined
        ? first
        : unprepared(`${select} AND (key_hash, ${second}) > ($2, $3) ORDER BY ${order} LIMIT ${chunkSize}`);

    return async function* ({ after, upTo = endOfHashes }: HashRange) {
      let rows = await all<CopiedRow>(first, [upTo, after]);
      for (;;) {
        yield rows;
        const last = rows.at(-1);
        if (last === undefined || rows.length < chunkSize) return;
        const position = second === undefined ? [last['key_hash']] : [last['key_hash'], last[second]];
        rows = await all<CopiedRow>(next, [upTo, ...(position as Value[])]);
      }
    };
  }

  return {
    keys: rowsOf('keys'),
    audit: rowsOf('audit'),
    terms: rowsOf('key_terms'),
    small: (table) => all<CopiedRow>(unprepared(`SELECT * FROM ${table} ORDER BY ${smallTables[table]}`)),
    setting: (name) => settings.get(name),
  };
}
