import { setTimeout as wait } from 'node:timers/promises';
import { SqliteError } from 'better-sqlite3';
import { AppError } from '../../errors.js';

const attempts = 4;

/**
 * Runs a transaction, again after a short random pause while another process holds the lock. Throws UNAVAILABLE where
 * the lock stays or the disk is full; nothing has been written then.
 */
export async function whenFree<T>(transaction: () => T): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return transaction();
    } catch (error) {
      if (!(error instanceof SqliteError)) throw error;
      if (error.code === 'SQLITE_FULL') {
        throw new AppError('UNAVAILABLE', 'Storage is full.', { retryAfterSeconds: 60, cause: error });
      }
      if (!error.code.startsWith('SQLITE_BUSY')) throw error;
      if (attempt === attempts) {
        throw new AppError('UNAVAILABLE', 'Storage is busy.', { retryAfterSeconds: 1, cause: error });
      }
    }
    await wait(5 + Math.random() * 20 * attempt);
  }
}
