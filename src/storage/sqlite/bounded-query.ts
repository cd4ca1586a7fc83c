import { SqliteError, type Database, type Statement } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import type { StoredKeyRow } from '../records/key-records.js';
import { createSearch } from '../../keys/alias-search.js';
import { sqliteDialect } from '../sql/dialect.js';
import { batchesBySize, type SizedKey } from '../sql/pages.js';
import { rowTexts } from '../sql/rows.js';
import type { FoundKeys, SizeLimit } from '../sql/session.js';

/** A statement with `in_time()` among its conditions, which SQLite calls for every row that it reads. It may use `matches()`. */
export interface Query {
  readonly sql: string;
  readonly parameters: object;
  /** The deadline, by `clockMs`. */
  readonly untilMs: number;
  /** Read the rows of the keys, as `WideReader.keys` does. */
  readonly keys?: SizeLimit;
}

/** Result of a query, without errors: their codes are lost between threads. */
export type QueryResult =
  | { readonly outcome: 'done'; readonly rows: readonly object[]; readonly found: FoundKeys }
  | { readonly outcome: 'late' }
  | { readonly outcome: 'failed'; readonly message: string; readonly code: string };

/** The time in milliseconds, on one clock for all threads of the process. */
export const clockMs = (): number => performance.timeOrigin + performance.now();

/** Rows per read of the clock, which costs a tenth of a small row. */
const rowsPerCheck = 16;

/** Maximum number of cached statements. */
const maxStatements = 64;

class QueryTimeoutError extends Error {}

/** Runs a query until it is completed or its deadline is reached. */
export type BoundedQuery = (query: Query) => QueryResult;

/** Creates the function that runs queries on a connection until their deadlines. A connection has one. */
export function createBoundedQuery(database: Database): BoundedQuery {
  let untilMs = Infinity;
  let rowsSeen = 0;
  // A native statement cannot be interrupted from JavaScript, but a function that it calls can throw.
  database.function('in_time', { deterministic: false }, () => {
    rowsSeen += 1;
    if (rowsSeen % rowsPerCheck === 0 && clockMs() > untilMs) throw new QueryTimeoutError();
    return 1;
  });
  const search = createSearch();
  database.function('matches', { deterministic: true }, (text: string, pattern: string) =>
    search(text, pattern) ? 1 : 0,
  );
  // A statement is freed with its object, and in a thread that makes few objects that is late.
  const statements = new LRUCache<string, Statement<[object], SizedKey>>({
    max: maxStatements,
    memoMethod: (sql) => database.prepare(sql),
  });
  const find = database.transaction((query: Query): QueryResult => {
    const found = statements.memo(query.sql).all(query.parameters);
    if (!query.keys) return { outcome: 'done', rows: found, found: { count: found.length, bytes: 0 } };
    const bytes = found.reduce((sum, { size }) => sum + Number(size), 0);
    const { maxBytes, mayCut } = query.keys;
    const rows = mayCut || bytes <= maxBytes ? readKeys(found, maxBytes) : [];
    return { outcome: 'done', rows, found: { count: found.length, bytes } };
  });

  const { keyColumns } = rowTexts(sqliteDialect);
  const select = database.prepare<[string], StoredKeyRow>(
    `SELECT ${keyColumns} FROM keys k WHERE k.id IN (SELECT value FROM json_each(?))`,
  );

  /** The rows in the order in which they were found. */
  function readKeys(found: readonly SizedKey[], maxBytes: number): object[] {
    const [within = []] = batchesBySize(found, maxBytes);
    const rows = new Map(select.all(`[${within.map(({ id }) => id).join()}]`).map((row) => [row.id, row]));
    return within.flatMap(({ id }) => rows.get(id) ?? []);
  }

  return (query) => {
    untilMs = query.untilMs;
    rowsSeen = 0;
    if (clockMs() > untilMs) return { outcome: 'late' };
    try {
      return find(query);
    } catch (error) {
      if (error instanceof QueryTimeoutError) return { outcome: 'late' };
      if (error instanceof SqliteError) return { outcome: 'failed', message: error.message, code: error.code };
      throw error;
    } finally {
      untilMs = Infinity;
    }
  };
}
