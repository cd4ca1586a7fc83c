import { createHash } from 'node:crypto';
import type { ReadBudget } from '../../keys/read-budget.js';
import type { Dialect } from './dialect.js';

/** A statement that an engine prepares once for each connection. Its parameters are `$1`, `$2` and so on. */
export interface Prepared {
  readonly name: string;
  readonly text: string;
}

/** A statement that is prepared under a hash of its text, so that equal texts share one plan. */
export function prepared(text: string): Prepared {
  return { name: createHash('sha256').update(text).digest('hex').slice(0, 24), text };
}

/** A statement that PostgreSQL plans anew for the values of each execution, for tables that grow from none to many rows. */
export function unprepared(text: string): Prepared {
  return { name: '', text };
}

/** A list is one parameter, for `Dialect.inList`. */
export type Value = string | bigint | number | Uint8Array | null | readonly string[] | readonly bigint[];

interface Execution {
  readonly statement: Prepared;
  readonly values: readonly Value[];
}

/**
 * Work of several statements, written as a generator: SQLite runs it within one synchronous transaction, PostgreSQL waits
 * for the rows of each statement. It may run again, so it changes nothing but the database.
 */
export type Work<T> = Generator<Execution, T, readonly object[]>;

/** Within `Work`: the rows that the statement returns. */
export function* query<Row>(statement: Prepared, values: readonly Value[] = []): Work<readonly Row[]> {
  return (yield { statement, values }) as readonly Row[];
}

/** A database, for stores whose statements are the same for both engines. */
export interface SqlSession {
  readonly dialect: Dialect;
  /** The rows of one statement that writes nothing. */
  readonly all: <Row>(statement: Prepared, values?: readonly Value[]) => Promise<readonly Row[]>;
  /** The rows of one statement that writes. Resolves when they are durable. */
  readonly run: <Row>(statement: Prepared, values?: readonly Value[]) => Promise<readonly Row[]>;
  /**
   * Runs work in a transaction and resolves when it is durable. PostgreSQL reads what others have committed before each
   * statement: rows that are read to be changed need `Dialect.forUpdate`.
   */
  readonly transaction: <T>(work: () => Work<T>) => Promise<T>;
  /** Runs work that writes nothing on one snapshot of the database. */
  readonly snapshot: <T>(work: () => Work<T>) => Promise<T>;
}

/** A statement that may read many rows. Its conditions include `Dialect.isInTime`. */
export interface WideQuery {
  readonly sql: string;
  readonly parameters: readonly Value[];
}

/** The maximum size of the definitions that a query may read. */
export interface SizeLimit {
  readonly maxBytes: number;
  /** Whether to read as many keys as are within `maxBytes`, at least one; otherwise none if all are larger. */
  readonly mayCut: boolean;
}

/** Reads that may scan many rows. They end at the deadline of the request. */
export interface WideReader {
  readonly many: <Row>(query: WideQuery, reads?: ReadBudget) => Promise<readonly Row[]>;
  /** As `many`, for queries that take a short time in most databases: SQLite tries them without a worker. */
  readonly few: <Row>(query: WideQuery, reads?: ReadBudget) => Promise<readonly Row[]>;
  /** The rows of the keys whose `id` a query selects, in its order, with the `size` of each in bytes. */
  readonly keys: <Row>(
    query: WideQuery,
    limit: SizeLimit,
    reads?: ReadBudget,
  ) => Promise<{ readonly rows: readonly Row[]; readonly found: FoundKeys }>;
}

/** The number of keys that a query has found and the size of their definitions, including those that were not read. */
export interface FoundKeys {
  readonly count: number;
  readonly bytes: number;
}

/** A statement that inserts one row, with a parameter for each column. */
export function insertInto(table: string, columns: readonly string[]): string {
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})`;
}

/** A statement that updates the row with this `id`, the first of the columns, with a parameter for each of them. */
export function updateByID(table: string, [, ...columns]: readonly string[]): string {
  return `UPDATE ${table} SET ${columns.map((column, index) => `${column} = $${index + 2}`).join(', ')} WHERE id = $1`;
}

/** The values of a row in the order of the columns. */
export function valuesOf<Row extends object>(row: Row, columns: readonly (keyof Row)[]): Value[] {
  return columns.map((column) => row[column] as Value);
}
