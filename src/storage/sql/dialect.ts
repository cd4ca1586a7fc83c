import { postgresCreation } from './layout-3.js';
import { nearKeys } from './place.js';

/** Differences between the SQL dialects. All other text is the same for both engines. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  readonly types: { readonly text: string; readonly bytes: string };
  /** The lower-case hex digits of bytes, and the bytes of hex digits. */
  readonly hexOf: (bytes: string) => string;
  readonly bytesOf: (hex: string) => string;
  /** The clock that all processes on the database share, in Unix milliseconds. */
  readonly nowMs: string;
  /** The condition that a value is in the list that is one parameter. */
  readonly inList: (parameter: string, type: 'text' | 'bigint') => string;
  /** The items of a JSON list of lists of integers as rows with these columns. */
  readonly integers: (parameter: string, columns: readonly string[]) => string;
  /** The items of a JSON list of `[hash, first, newest, place]` as rows, numbered from 0 as `span_index`. */
  readonly historySpans: (parameter: string) => string;
  /** The items of a JSON list of `[hash, place]` as rows: see `placesOf`. */
  readonly hashes: (parameter: string) => string;
  /** The condition that the key `k` has this hash, in hex digits, where `place` is the row that it has if no other key is near. */
  readonly isOfHash: (hash: string, place: string) => string;
  /** An integer member of a JSON text. */
  readonly integerMember: (column: string, member: string) => string;
  /** A list in a JSON object of a column, as JSON; NULL if it is absent. */
  readonly listMember: (column: string, member: string) => string;
  /** A condition of statements that may read many rows: SQLite calls it for each row, and it throws after the deadline. */
  readonly isInTime: string;
  /** Whether tables are joined in the order of the text; otherwise the planner estimates which order is best. */
  readonly joinsInOrder: boolean;
  /** The number of a row, compared with `id` behind a column of an index: `(column, id) > (value, rowID)`. */
  readonly rowID: (value: string) => string;
  /** The condition that a text matches a pattern of `containsPattern`. */
  readonly matches: (column: string, pattern: string) => string;
  /** Behind a table whose rows are found by their numbers, although other conditions have an index. */
  readonly byNumber: string;
  /** The time of creation of the key `k` in milliseconds, as the index of it has it. */
  readonly creation: string;
  /** The column in a condition for which no index must be entered. */
  readonly withoutIndex: (column: string) => string;
  readonly feed: FeedDialect;
  /** Behind a SELECT in a transaction: no other transaction changes the rows of the table `of` before it ends. */
  readonly forUpdate: (of?: string) => string;
}

/** How the entries of the history are ordered. */
interface FeedDialect {
  /** The transaction part of the position of an entry. */
  readonly tx: string;
  /** The transaction part of an entry that is written now; undefined if entries have none. */
  readonly newTx: string | undefined;
  /** Entries whose `tx` is below are complete: no open transaction can add one there. */
  readonly horizon: string;
  /** Whether there is an entry at or above the horizon. */
  readonly isPending: string;
  readonly order: (direction: 'ASC' | 'DESC') => string;
  /** The condition that an entry is after the position `$1` (transaction), `$2` (number). */
  readonly isAfter: string;
  /** The condition that an entry is before that position. */
  readonly isBefore: string;
  /** Whether the position `$1`, `$2` is after every change that this database has had, including purged ones. */
  readonly isBeyond: string;
}

/** Whether both engines accept the text as a parameter. PostgreSQL rejects NUL, and no stored text has any. */
export function isBindableText(text: string): boolean {
  return !text.includes('\0');
}

/** The dialect of SQLite. */
export const sqliteDialect: Dialect = {
  name: 'sqlite',
  types: { text: 'TEXT', bytes: 'BLOB' },
  hexOf: (bytes) => `lower(hex(${bytes}))`,
  bytesOf: (hex) => `unhex(${hex})`,
  nowMs: `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
  inList: (parameter) => `IN (SELECT value FROM json_each(${parameter}))`,
  integers: (parameter, columns) =>
    `(SELECT ${columns.map((column, index) => `value ->> ${index} AS ${column}`).join(', ')} FROM json_each(${parameter}))`,
  historySpans: (parameter) =>
    `(SELECT key AS span_index, value ->> 0 AS hash, value ->> 1 AS first, value ->> 2 AS newest,
        CAST(value ->> 3 AS bigint) AS place FROM json_each(${parameter}))`,
  hashes: (parameter) =>
    `(SELECT value ->> 0 AS hash, CAST(value ->> 1 AS bigint) AS place FROM json_each(${parameter}))`,
  isOfHash: (hash, place) =>
    `k.id BETWEEN CAST(${place} AS bigint) AND CAST(${place} AS bigint) + ${nearKeys - 1} AND k.key_hash = unhex(${hash})`,
  integerMember: (column, member) => `${column} ->> '$.${member}'`,
  listMember: (column, member) => `${column} -> '$.${member}'`,
  isInTime: 'in_time()',
  joinsInOrder: true,
  // Only with a collation does SQLite enter the index at both. Otherwise it reads all rows of the same value.
  rowID: (value) => `${value} COLLATE BINARY`,
  matches: (column, pattern) => `matches(${column}, ${pattern})`,
  byNumber: 'NOT INDEXED',
  creation: 'k.creation',
  withoutIndex: (column) => `+${column}`,
  // There is one writer at a time and no number is used twice: the numbers of the entries are the order of the commits.
  feed: {
    tx: '0',
    newTx: undefined,
    horizon: '1',
    isPending: 'false',
    order: (direction) => `id ${direction}`,
    isAfter: 'id > $2',
    isBefore: 'id < $2',
    isBeyond: `$1 <> 0 OR $2 > coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'history'), 0)`,
  },
  // There is one writer at a time.
  forUpdate: () => '',
};

/** The setting added to transaction numbers, so that new entries sort last. */
export const feedOffset = `(SELECT value::bigint FROM settings WHERE name = 'feed_offset')`;

/** The transaction part of the position of entries that are written now. */
export const currentPosition = `pg_current_xact_id()::text::bigint + ${feedOffset}`;

/** All transactions below have ended, so no entry is added below. */
const feedHorizon = `pg_snapshot_xmin(pg_current_snapshot())::text::bigint + ${feedOffset}`;

/** The dialect of PostgreSQL. */
export const postgresDialect: Dialect = {
  name: 'postgres',
  types: { text: 'text', bytes: 'bytea' },
  hexOf: (bytes) => `encode(${bytes}, 'hex')`,
  bytesOf: (hex) => `decode(${hex}, 'hex')`,
  nowMs: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
  inList: (parameter, type) => `= ANY (${parameter}::${type}[])`,
  integers: (parameter, columns) =>
    `(SELECT ${columns.map((column, index) => `(item ->> ${index})::bigint AS ${column}`).join(', ')}
        FROM json_array_elements(${parameter}::json) AS items (item))`,
  historySpans: (parameter) =>
    `(SELECT nth - 1 AS span_index, item ->> 0 AS hash, (item ->> 1)::bigint AS first, (item ->> 2)::bigint AS newest,
        (item ->> 3)::bigint AS place FROM json_array_elements(${parameter}::json) WITH ORDINALITY AS items (item, nth))`,
  hashes: (parameter) =>
    `(SELECT item ->> 0 AS hash, (item ->> 1)::bigint AS place FROM json_array_elements(${parameter}::json) AS items (item))`,
  // By an index of its own: the planner cannot estimate how many keys are near a place.
  // It names the place as well, so that statements of both engines have the same parameters.
  isOfHash: (hash, place) => `k.key_hash = decode(${hash}, 'hex') AND CAST(${place} AS bigint) >= 0`,
  // `json` and not `jsonb`, which holds no NUL and would parse all of a definition to find one member.
  integerMember: (column, member) => `(${column}::json ->> '${member}')::bigint`,
  listMember: (column, member) => `(${column}::json ->> '${member}')`,
  isInTime: 'true',
  joinsInOrder: false,
  rowID: (value) => value,
  matches: (column, pattern) => `${column} ~ ${pattern}`,
  byNumber: '',
  creation: postgresCreation.replaceAll(/\b(?=created|date_created)/g, 'k.'),
  withoutIndex: (column) => column,
  feed: {
    tx: 'tx',
    newTx: currentPosition,
    horizon: feedHorizon,
    isPending: `EXISTS (SELECT 1 FROM history WHERE tx >= (SELECT ${feedHorizon}))`,
    order: (direction) => `tx ${direction}, id ${direction}`,
    isAfter: '(tx, id) > ($1::bigint, $2::bigint)',
    isBefore: '(tx, id) < ($1::bigint, $2::bigint)',
    // Entries that were copied from a file have `tx` 0, and purged ones among them are not known.
    isBeyond: `$1::bigint > 0 AND ($1::bigint >= (SELECT ${feedHorizon})
      OR $2::bigint > coalesce(pg_sequence_last_value(pg_get_serial_sequence('history', 'id')), 0))`,
  },
  forUpdate: (of) => (of === undefined ? 'FOR UPDATE' : `FOR UPDATE OF ${of}`),
};
