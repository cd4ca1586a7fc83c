import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { migrate } from './migrate.js';

export type { Database } from 'better-sqlite3';

/** How long a statement waits for another process's lock, in milliseconds. It blocks the event loop, hence so short. */
const busyTimeoutMs = 200;

/**
 * Opens a database file, creating and migrating it as needed; `:memory:` gives one that is gone when closed. Throws an
 * Error that names the file where it cannot be opened, is no database, or comes from a newer version.
 */
export function openDatabase(file: string): Database.Database {
  if (file !== ':memory:') createPrivately(file);
  const database = connect(file);
  try {
    database.pragma('journal_mode = WAL');
    // Later than journal_mode: this build falls back to NORMAL after it, which loses acknowledged writes with the power.
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    database.pragma('trusted_schema = OFF');
    database.defaultSafeIntegers(true);
    migrate(database);
    requireDurability(database, file);
    return database;
  } catch (error) {
    database.close();
    throw new Error(`The database ${file} cannot be used: ${reasonOf(error)}`, { cause: error });
  }
}

function connect(file: string): Database.Database {
  try {
    return new Database(file, { timeout: busyTimeoutMs });
  } catch (error) {
    throw new Error(`The database ${file} cannot be opened: ${reasonOf(error)}`, { cause: error });
  }
}

/** The file holds hashes and ciphertexts for its owner's eyes; SQLite gives its companions the same mode. */
function createPrivately(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    closeSync(openSync(file, 'a', 0o600));
  } catch (error) {
    throw new Error(`The database ${file} cannot be opened: ${reasonOf(error)}`, { cause: error });
  }
}

/** Asked after the first write, because the setting is known to read FULL before it and NORMAL after. */
function requireDurability(database: Database.Database, file: string): void {
  const read = (name: string) => String(database.pragma(name, { simple: true }));
  if (read('synchronous') !== '2') throw new Error('synchronous is not FULL');
  if (file !== ':memory:' && read('journal_mode') !== 'wal') throw new Error('journal_mode is not WAL');
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown reason';
}
