import { randomUUID } from 'node:crypto';
import { createRowSource, migratedTo, type RowSource } from '../sql/copy-store.js';
import { withDatabaseName, openDatabase, type Database } from './connection.js';
import { createFileSettings, createSqliteSession } from './session.js';

/** The setting that identifies the source of a copy. */
const name = 'moving_id';

/** The rows of a locked file, and the ID of the copy. */
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
export function openLockedRows(file: string): LockedRows {
  const database = openDatabase(file, 'write');
  try {
    return withDatabaseName(file, () => {
      const settings = createFileSettings(database);
      const id = settings.get(name) ?? randomUUID();
      settings.set(name, id);
      database.exec('BEGIN IMMEDIATE');
      const direct = <T>(work: () => T) => Promise.resolve(work());
      return {
        id,
        ...createRowSource(createSqliteSession(database, { read: direct, write: direct })),
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

function mark(database: Database, settings: ReturnType<typeof createFileSettings>, target: string): void {
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
