import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { InstallationNotFoundError, isNew, type Access, type DatabaseHandle } from './storage.js';
import { migratedTo } from './sql/copy-store.js';
import { openSQLite } from './sqlite/engine.js';

/** The location of an installation. */
export interface StorageLocation {
  readonly databaseFile: string;
  readonly keyRingFile: string;
  /** Memory for pages of the file, in MiB. */
  readonly cacheMiB: number;
  /** The URL of a database server; replaces the file. */
  readonly databaseURL: string | undefined;
}

/** Permissions for opening storage. */
export interface StorageAccess {
  readonly access: Access;
  /** Permits writing to a file that `migrate-store` has copied to a database server. */
  readonly allowMigrated: boolean;
  /** Permits a new installation where one seems to be lost: beside a database file of the data folder, or for a key ring. */
  readonly allowNew: boolean;
}

/**
 * Opens the file or the database server.
 *
 * @throws {InstallationNotFoundError} when there is none and it may not be created.
 * @throws {Error} that names the location and the remedy, when the location may not be used.
 */
export async function openStorage(location: StorageLocation, permitted: StorageAccess): Promise<DatabaseHandle> {
  return location.databaseURL === undefined
    ? openFile(location, permitted)
    : openServer(location.databaseFile, location.databaseURL, permitted);
}

async function openFile(
  { databaseFile: file, keyRingFile, cacheMiB }: StorageLocation,
  { access, allowMigrated, allowNew }: StorageAccess,
): Promise<DatabaseHandle> {
  requireRestored(file);
  if (access === 'create' && !allowNew) requireNoLostFile(file, keyRingFile);
  const opened = await openSQLite(file, access, cacheMiB);
  const target = await opened.settings.get(migratedTo);
  if (target === undefined || allowMigrated || access === 'read') return opened;
  await opened.close();
  throw new Error(
    `The file ${resolve(file)} was copied to the database ${target} by \`keyfront migrate-store\`, and changes of it would be ` +
      'missing there. Set KEYFRONT_DATABASE_URL to that database. If that command was interrupted, run it again. ' +
      'To use the file again instead: `keyfront serve --allow-migrated`.',
  );
}

/** A first start creates the file before the key ring: a key ring without a file belongs to a file that is lost. */
function requireNoLostFile(file: string, keyRingFile: string): void {
  if (file === ':memory:' || !existsSync(keyRingFile)) return;
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size !== undefined && size > 0) return;
  throw new InstallationNotFoundError(
    `The database ${resolve(file)} ${size === undefined ? 'does not exist' : 'is empty'}, but there is its key ring: ${resolve(keyRingFile)}. ` +
      'Set KEYFRONT_DATA to the data folder of your installation, or put back a backup with `keyfront restore`. ' +
      'To begin with an empty installation instead: `keyfront serve --allow-new`.',
  );
}

async function openServer(file: string, url: string, { access, allowNew }: StorageAccess): Promise<DatabaseHandle> {
  // The driver is loaded by those processes only that need it.
  const { openPostgres } = await import('./postgres/engine.js');
  const isSecond = access === 'create' && !allowNew && existsSync(file);
  if (!isSecond) return openPostgres(url, access);
  try {
    const opened = await openPostgres(url, 'write');
    if (!(await isNew(opened))) return opened;
    await opened.close();
  } catch (error) {
    if (!(error instanceof InstallationNotFoundError)) throw error;
  }
  throw new InstallationNotFoundError(
    `The database that KEYFRONT_DATABASE_URL names is empty, but the data folder holds an installation: ${resolve(file)}. ` +
      'Copy it with `keyfront migrate-store`. To begin with an empty installation instead: `keyfront serve --allow-new`.',
  );
}

/** What `restore` works on, beside the database that it becomes. */
export function restoringFile({ databaseFile }: Pick<StorageLocation, 'databaseFile'>): string {
  return `${databaseFile}.restoring`;
}

/** A folder with an unfinished restore must not become a new installation. */
function requireRestored(databaseFile: string): void {
  if (existsSync(databaseFile) || !existsSync(restoringFile({ databaseFile }))) return;
  throw new Error(`A restore into ${databaseFile} was cut short. Run \`keyfront restore\` again.`);
}
