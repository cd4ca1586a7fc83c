/** Differences between the SQL dialects. All other text is the same for both engines. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  readonly types: {
    readonly text: string;
    readonly integer: string;
    readonly bytes: string;
    readonly rowNumber: string;
  };
  /** The options of a table: rows have a number, are stored in their primary key, or are updated often. */
  readonly tableOptions: Readonly<Record<'numbered' | 'clustered' | 'updatedOften', string>>;
  readonly bytesLiteral: (hex: string) => string;
  /** A trigger that rejects updates of these columns. */
  readonly rejectUpdatesOf: (table: string, columns: readonly string[], message: string) => string;
  /** A trigger that rejects updates which leave the signature as it is. */
  readonly rejectUnsigned: (table: string) => string;
  /** The clock that all processes on the database share, in Unix milliseconds. */
  readonly nowMs: string;
  /** The condition that a value is in the list that is one parameter. */
  readonly inList: (parameter: string, type: 'text' | 'bigint') => string;
  /** The items of a JSON list of `[hash, first, newest]` as rows, numbered from 0 as `span_index`. */
  readonly historySpans: (parameter: string) => string;
  /** The items of a text list parameter, as the column `value` of a table. */
  readonly listOf: (parameter: string) => string;
  /** An integer member of a JSON text. */
  readonly integerMember: (column: string, member: string) => string;
  /** A condition of statements that may read many rows: SQLite calls it for each row, and it throws after the deadline. */
  readonly isInTime: string;
  /** Whether tables are joined in the order of the text; otherwise the planner estimates which order is best. */
  readonly joinsInOrder: boolean;
  /** The column in a condition for which no index must be entered. */
  readonly withoutIndex: (column: string) => string;
  readonly feed: FeedDialect;
  /** Behind a SELECT in a transaction: no other transaction changes these rows before it ends. */
  readonly forUpdate: '' | 'FOR UPDATE';
}

/** How the entries of the history are ordered. */
interface FeedDialect {
  /** The transaction part of the position of an entry. */
  readonly tx: string;
  /** Entries whose `tx` is below are complete: no open transaction can add one there. */
  readonly horizon: string;
  readonly order: (direction: 'ASC' | 'DESC') => string;
  /** The condition that an entry is after the position `$1` (transaction), `$2` (number). */
  readonly isAfter: string;
  /** Whether the position `$1`, `$2` is after every change that this database has had, including purged ones. */
  readonly isBeyond: string;
}

/** Whether both engines accept the text as a parameter. PostgreSQL rejects NUL, and no stored text has any. */
export function isBindableText(text: string): boolean {
  return !text.includes('\0');
}

const unsigned = 'rows are signed: an update must replace the signature, mac';

/** The dialect of SQLite. */
export const sqliteDialect: Dialect = {
  name: 'sqlite',
  types: { text: 'TEXT', integer: 'INTEGER', bytes: 'BLOB', rowNumber: 'INTEGER PRIMARY KEY AUTOINCREMENT' },
  tableOptions: { numbered: 'STRICT', clustered: 'STRICT, WITHOUT ROWID', updatedOften: 'STRICT' },
  bytesLiteral: (hex) => `x'${hex}'`,
  rejectUpdatesOf: (table, columns, message) =>
    `CREATE TRIGGER ${table}_is_append_only BEFORE UPDATE OF ${columns.join(', ')} ON ${table}
     BEGIN SELECT RAISE(ABORT, '${message}'); END;`,
  rejectUnsigned: (table) =>
    `CREATE TRIGGER changed_${table}_are_signed BEFORE UPDATE ON ${table} WHEN NEW.mac IS OLD.mac
     BEGIN SELECT RAISE(ABORT, '${unsigned}'); END;`,
  nowMs: `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
  inList: (parameter) => `IN (SELECT value FROM json_each(${parameter}))`,
  historySpans: (parameter) =>
    `(SELECT key AS span_index, value ->> 0 AS hash, value ->> 1 AS first, value ->> 2 AS newest FROM json_each(${parameter}))`,
  listOf: (parameter) => `json_each(${parameter})`,
  integerMember: (column, member) => `${column} ->> '$.${member}'`,
  isInTime: 'in_time()',
  joinsInOrder: true,
  withoutIndex: (column) => `+${column}`,
  // There is one writer at a time and no number is used twice: the numbers of the entries are the order of the commits.
  feed: {
    tx: '0',
    horizon: '1',
    order: (direction) => `id ${direction}`,
    isAfter: 'id > $2',
    isBeyond: `$1 <> 0 OR $2 > coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit'), 0)`,
  },
  // There is one writer at a time.
  forUpdate: '',
};

/** The setting added to transaction numbers, so that new entries sort last. */
export const feedOffset = `(SELECT value::bigint FROM settings WHERE name = 'feed_offset')`;

/** All transactions below have ended, so no entry is added below. */
const feedHorizon = `pg_snapshot_xmin(pg_current_snapshot())::text::bigint + ${feedOffset}`;

/** The dialect of PostgreSQL. */
export const postgresDialect: Dialect = {
  name: 'postgres',
  types: {
    // Ordered byte by byte, as in SQLite and in cursors.
    text: 'text COLLATE "C"',
    integer: 'bigint',
    bytes: 'bytea',
    rowNumber: 'bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY',
  },
  // Free space on each page, so that an update that changes no index is written beside the row.
  tableOptions: { numbered: '', clustered: '', updatedOften: 'WITH (fillfactor = 85)' },
  bytesLiteral: (hex) => `'\\x${hex}'`,
  rejectUpdatesOf: (table, columns, message) =>
    `CREATE TRIGGER ${table}_is_append_only BEFORE UPDATE OF ${columns.join(', ')} ON ${table}
     FOR EACH ROW EXECUTE FUNCTION keyfront_reject('${message}');`,
  rejectUnsigned: (table) =>
    `CREATE TRIGGER changed_${table}_are_signed BEFORE UPDATE ON ${table} FOR EACH ROW
     WHEN (NEW.mac = OLD.mac) EXECUTE FUNCTION keyfront_reject('${unsigned}');`,
  nowMs: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
  inList: (parameter, type) => `= ANY (${parameter}::${type}[])`,
  historySpans: (parameter) =>
    `(SELECT nth - 1 AS span_index, item ->> 0 AS hash, (item ->> 1)::bigint AS first, (item ->> 2)::bigint AS newest
      FROM json_array_elements(${parameter}::json) WITH ORDINALITY AS items (item, nth))`,
  listOf: (parameter) => `unnest(${parameter}::text[]) AS list (value)`,
  // `json` and not `jsonb`, which holds no NUL and would parse all of a definition to find one member.
  integerMember: (column, member) => `(${column}::json ->> '${member}')::bigint`,
  isInTime: 'true',
  joinsInOrder: false,
  withoutIndex: (column) => column,
  feed: {
    tx: 'tx',
    horizon: feedHorizon,
    order: (direction) => `tx ${direction}, id ${direction}`,
    isAfter: '(tx, id) > ($1::bigint, $2::bigint)',
    // Entries that were copied from a file have `tx` 0, and purged ones among them are not known.
    isBeyond: `$1::bigint > 0 AND ($1::bigint >= (SELECT ${feedHorizon})
      OR $2::bigint > coalesce(pg_sequence_last_value(pg_get_serial_sequence('audit', 'id')), 0))`,
  },
  forUpdate: 'FOR UPDATE',
};
