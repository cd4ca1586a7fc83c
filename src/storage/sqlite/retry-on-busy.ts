import { setTimeout as wait } from 'node:timers/promises';
import { SqliteError } from 'better-sqlite3';
import { AppError } from '../../lib/errors.js';

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
