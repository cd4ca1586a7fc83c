import { statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { describeError } from '../../lib/system-error.js';
import { InstallationNotFoundError, type Access } from '../storage.js';
import { createSearchIndexes, migrations, migrationsIn, requireSchema, versionAfter } from '../sql/schema.js';
import { createPrivately, requirePrivateFiles } from './files.js';

/** A connection of better-sqlite3. */
export type { Database } from 'better-sqlite3';

/** How long opening waits for the lock of another process. It blocks, because no request is served yet. */
const openTimeoutMs = 5_000;

/** The cache of a connection that the settings do not size. */
const defaultCacheMiB = 64;

/**
 * Opens a database file and migrates it; `:memory:` opens a database without a file.
 *
 * @param cacheMiB - pages that the connection keeps in memory, in MiB
 * @throws {InstallationNotFoundError} when there is none and it may not be created.
 * @throws {Error} that names the file when it cannot be opened, is no database, is not private, or comes from a newer version.
 */
export function openDatabase(
  file: string,
  access: Exclude<Access, 'read'> = 'create',
  cacheMiB = defaultCacheMiB,
): Database.Database {
  const open = () => {
    if (access !== 'create') requireFile(file);
    if (file !== ':memory:') createPrivately(file);
    return new Database(file, { timeout: openTimeoutMs });
  };
  const database = withDatabaseName(file, open, 'opened');
  return prepared(database, file, () => {
    // Before anything is written: an empty file is no installation.
    if (access !== 'create' && versionOf(database) === 0) throw noInstallation(file, 'is empty');
    database.pragma('journal_mode = WAL');
    // Later than journal_mode: this build falls back to NORMAL after it, which loses acknowledged writes with the power.
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    database.pragma('trusted_schema = OFF');
    database.pragma(`cache_size = ${-1024 * cacheMiB}`);
    migrate(database);
    // Indexes that an interrupted import has not created.
    configure(database, 'indexes');
    for (const statement of createSearchIndexes) database.exec(statement);
    configure(database, 'normal');
    requireSettings(database, file);
  });
}

/**
 * Opens a file or a copy of one to read it, also while a service writes to it. SQLite changes nothing in it, but keeps an
 * index of its log (`-shm`) beside it, for which the folder has to be writable.
 *
 * @param allowNewer - whether another process may have applied newer migrations.
 * @throws {InstallationNotFoundError} when there is none.
 * @throws {Error} that names the file, as `openDatabase`, and when the schema is not the current one.
 */
export function openReadOnly(file: string, allowNewer = false): Database.Database {
  const open = () => {
    requireFile(file);
    requirePrivateFiles(file);
    return new Database(file, { readonly: true, fileMustExist: true, timeout: openTimeoutMs });
  };
  const database = withDatabaseName(file, open, 'opened');
  return prepared(database, file, () => {
    database.pragma('trusted_schema = OFF');
    database.pragma('temp_store = MEMORY');
    if (versionOf(database) === 0) throw noInstallation(file, 'is empty');
    requireSchema(versionOf(database), { allowNewer });
  });
}

/**
 * Prepares a connection for the creation of indexes of many keys, or for normal work again. Not within a transaction. Sorts of
 * normal work fit in memory: they are short, or limited in time. Indexes are sorted in files in the data folder, which have no
 * name and end with the sort.
 */
export function configure(database: Database.Database, work: 'indexes' | 'normal'): void {
  // A database in memory has no folder.
  if (work === 'normal' || database.memory) return void database.pragma('temp_store = MEMORY');
  database.pragma(`temp_store_directory = '${dirname(resolve(database.name)).replaceAll("'", "''")}'`);
  database.pragma('temp_store = FILE');
}

function requireFile(file: string): void {
  // Unlike `existsSync`, it throws when the folder cannot be searched.
  if (!statSync(file, { throwIfNoEntry: false })) throw noInstallation(file, 'does not exist');
}

function noInstallation(file: string, state: string): InstallationNotFoundError {
  return new InstallationNotFoundError(
    `There is no installation in ${dirname(resolve(file))}: the file ${basename(file)} ${state}. ` +
      'Set KEYFRONT_DATA to the data folder of your installation. `keyfront serve` creates a new one.',
  );
}

/** Adds the file name to errors of `work`. */
export function withDatabaseName<T>(file: string, work: () => T, verb: 'opened' | 'used' = 'used'): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof InstallationNotFoundError) throw error;
    // SQLite quotes the text of a damaged schema, which has several lines.
    const reason = describeError(error).replace(/\n\s*/g, ' ');
    throw new Error(`The database ${file} cannot be ${verb}: ${reason}`, { cause: error });
  }
}

function prepared(database: Database.Database, file: string, prepare: () => void): Database.Database {
  database.defaultSafeIntegers(true);
  try {
    withDatabaseName(file, prepare);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Verified after the first write, because `synchronous` is known to read FULL before it and NORMAL after. */
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

const migrationTexts = migrations.map(({ sqlite }) => sqlite);

/**
 * Applies the migrations that the database lacks, each in a transaction of its own.
 *
 * @throws {Error} when the database has a newer schema.
 */
export function migrate(database: Database.Database, steps: readonly string[] = migrationTexts): void {
  requireSchema(versionOf(database), { known: versionAfter(steps.length), allowOlder: true });
  for (const [index, step] of steps.entries()) {
    const apply = database.transaction(() => {
      // Read again in the transaction: two processes may start at the same time.
      if (migrationsIn(versionOf(database)) > index) return;
      database.exec(step);
      database.pragma(`user_version = ${versionAfter(index + 1)}`);
    });
    apply.immediate();
  }
}

/** The version of the schema of a database; 0 if it is empty. */
export function versionOf(database: Database.Database): number {
  return Number(database.pragma('user_version', { simple: true }));
}
