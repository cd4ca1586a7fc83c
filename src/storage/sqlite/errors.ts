import { setTimeout as wait } from 'node:timers/promises';
import { SqliteError } from 'better-sqlite3';
import { AppError } from '../../lib/errors.js';

/** The database's files are no longer those that this process opened. */
export class FilesReplacedError extends Error {}

/** `migrate-store` has copied the database to a server since it was opened. */
export class MigratedError extends Error {}

/** A failed read affects that read only; after other disk errors the content of the disk is unknown. */
const readErrors: ReadonlySet<string> = new Set([
  'SQLITE_IOERR_READ',
  'SQLITE_IOERR_SHORT_READ',
  'SQLITE_IOERR_CORRUPTFS',
  'SQLITE_IOERR_NOMEM',
]);

/** Whether no further write is permitted: the outcome of a write is unknown, or the file is gone. */
export function isFatal(error: unknown): error is Error {
  if (error instanceof FilesReplacedError || error instanceof MigratedError) return true;
  if (!(error instanceof SqliteError)) return false;
  if (error.code === 'SQLITE_READONLY_DBMOVED') return true;
  return error.code.startsWith('SQLITE_IOERR') && !readErrors.has(error.code);
}

/** The same for an error of a write, which must not go on in a file that SQLite calls malformed. */
export function isFatalToWrites(error: unknown): error is Error {
  return isFatal(error) || (error instanceof SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code));
}

const timeoutMs = 700;

/**
 * Runs a transaction, and again after a short random delay while another process holds the lock.
 *
 * @throws {AppError} UNAVAILABLE, with nothing written, when the lock is not released in time.
 */
export async function retryOnBusy<T>(transaction: () => T): Promise<T> {
  const start = performance.now();
  for (;;) {
    try {
      return transaction();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() - start > timeoutMs) {
        throw new AppError('UNAVAILABLE', 'Storage is busy.', { retryAfterSeconds: 1, cause: error });
      }
    }
    await wait(1 + Math.random() * 20);
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof SqliteError && /^SQLITE_(BUSY|PROTOCOL)/.test(error.code);
}
