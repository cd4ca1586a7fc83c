import { randomUUID } from 'node:crypto';
import { smallTables, type HashRange, type RowSource } from '../sql/copy-store.js';
import { migratedTo } from '../migrated.js';
import { withDatabaseName, openDatabase, type Database } from './connection.js';
import { createSettings } from './settings.js';

type SQLiteRow = Readonly<Record<string, unknown>>;

/** The setting that identifies the source of a copy. */
const name = 'moving_id';
const keysAtOnce = 200;
const entriesAtOnce = 500;

export interface LockedRows extends RowSource {
  readonly id: string;
  /**
   * Marks the file, durably, as copied to the database of this name. No process is served from it without permission then.
   *
   * @throws {Error} when another process has written to the file at the same time; the mark is taken back.
   */
  readonly mark: (target: string) => void;
  readonly close: () => void;
}

/** The rows of a file, locked until it is closed: writes by other processes are rejected as busy. */
export function lockRows(file: string): LockedRows {
  const database = openDatabase(file, 'write');
  try {
    return withDatabaseName(file, () => {
      const settings = createSettings(database);
      const id = settings.get(name) ?? randomUUID();
      settings.set(name, id);
      database.exec('BEGIN IMMEDIATE');
      const keys = database.prepare<[string, string], SQLiteRow>(
        `SELECT * FROM keys WHERE key_hash > ? AND key_hash <= ? ORDER BY key_hash LIMIT ${keysAtOnce}`,
      );
      const audit = database.prepare<[string, bigint, string], SQLiteRow>(
        `SELECT * FROM audit WHERE (key_hash, version_after) > (?, ?) AND key_hash <= ?
         ORDER BY key_hash, version_after LIMIT ${entriesAtOnce}`,
      );
      const terms = database.prepare<[string, string], SQLiteRow>(
        'SELECT * FROM key_terms WHERE key_hash > ? AND key_hash <= ? ORDER BY key_hash, term',
      );
      return {
        id,
        keys: chunks((after, end) => keys.all(after, end), keysAtOnce),
        audit: chunks(
          (after, end, last) => audit.all(after, last ? (last['version_after'] as bigint) : endOfVersions, end),
          entriesAtOnce,
        ),
        terms: chunks((after, end) => terms.all(after, end), Infinity),
        small: (table) =>
          Promise.resolve(
            database.prepare<[], SQLiteRow>(`SELECT * FROM ${table} ORDER BY ${smallTables[table]}`).all(),
          ),
        setting: (setting) => Promise.resolve(settings.get(setting)),
        mark: (target) => mark(database, settings, target),
        close: () => {
          if (database.inTransaction) database.exec('ROLLBACK');
          database.close();
        },
      };
    });
  } catch (error) {
    database.close();
    throw error;
  }
}

function mark(database: Database, settings: ReturnType<typeof createSettings>, target: string): void {
  const before = settings.get(migratedTo);
  if (before === target) return;
  // Changes only when another connection commits.
  const version = () => database.pragma('data_version', { simple: true });
  const seen = version();
  settings.set(migratedTo, target);
  // The mark has to be durable before the target is complete, so the lock is released for a moment.
  database.exec('COMMIT');
  database.exec('BEGIN IMMEDIATE');
  if (version() === seen) return;
  if (before === undefined) settings.remove(migratedTo);
  else settings.set(migratedTo, before);
  database.exec('COMMIT');
  throw new Error(`Another process has written to ${database.name}. Stop the service, and run migrate-store again.`);
}

/** After every hash. */
const endOfHashes = '~';
/** A range begins after all versions of the key before it. */
const endOfVersions = 9223372036854775807n;

function chunks(
  read: (after: string, end: string, last: SQLiteRow | undefined) => SQLiteRow[],
  size: number,
): RowSource['keys'] {
  return async function* (range: HashRange) {
    let last: SQLiteRow | undefined;
    for (;;) {
      const rows = await Promise.resolve(
        read(last ? (last['key_hash'] as string) : range.after, range.upTo ?? endOfHashes, last),
      );
      yield rows;
      last = rows.at(-1);
      if (last === undefined || rows.length < size) return;
    }
  };
}
