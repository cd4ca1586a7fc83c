import Database from 'better-sqlite3';
import { migrate, requireCurrent } from './migrate.js';
import { createPrivately } from './private-files.js';

export type { Database } from 'better-sqlite3';

/** How long opening waits for another process's lock, in milliseconds. Nobody is served yet. */
const openWithinMs = 5_000;

/**
 * Opens a database file, creating and migrating it as needed; `:memory:` gives one that is gone when closed. Throws an
 * Error that names the file where it cannot be opened, is no database, is open to others, or comes from a newer version.
 */
export function openDatabase(file: string): Database.Database {
  const database = connect(file, () => {
    if (file !== ':memory:') createPrivately(file);
    return new Database(file, { timeout: openWithinMs });
  });
  return prepared(database, file, () => {
    database.pragma('journal_mode = WAL');
    // Later than journal_mode: this build falls back to NORMAL after it, which loses acknowledged writes with the power.
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    database.pragma('trusted_schema = OFF');
    // What SQLite sorts may be of any row, and has no place in a file that nobody looks after.
    database.pragma('temp_store = MEMORY');
    migrate(database);
    requireSettings(database, file);
  });
}

/** Opens a copy that stands by itself, to read and to change nothing. Throws as `openDatabase` does. */
export function openCopy(file: string): Database.Database {
  const database = connect(file, () => new Database(file, { readonly: true, fileMustExist: true }));
  return prepared(database, file, () => {
    database.pragma('trusted_schema = OFF');
    requireCurrent(database);
  });
}

/** Runs what belongs to opening a database, so that its errors name the file. */
export function namingDatabase<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    throw new Error(`The database ${file} cannot be used: ${error.message}`, { cause: error });
  }
}

function connect(file: string, open: () => Database.Database): Database.Database {
  try {
    return open();
  } catch (error) {
    throw new Error(`The database ${file} cannot be opened: ${reasonOf(error)}`, { cause: error });
  }
}

function prepared(database: Database.Database, file: string, prepare: () => void): Database.Database {
  database.defaultSafeIntegers(true);
  try {
    prepare();
    return database;
  } catch (error) {
    database.close();
    throw new Error(`The database ${file} cannot be used: ${reasonOf(error)}`, { cause: error });
  }
}

/** Asked after the first write, because `synchronous` is known to read FULL before it and NORMAL after. */
function requireSettings(database: Database.Database, file: string): void {
  const wanted = {
    synchronous: '2',
    foreign_keys: '1',
    trusted_schema: '0',
    ...(file !== ':memory:' && { journal_mode: 'wal' }),
  };
  for (const [name, value] of Object.entries(wanted)) {
    const found = String(database.pragma(name, { simple: true }));
    if (found !== value) throw new Error(`${name} is ${found}, not ${value}`);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown reason';
}
