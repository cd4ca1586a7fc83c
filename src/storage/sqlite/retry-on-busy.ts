import { setTimeout as wait } from 'node:timers/promises';
import { SqliteError } from 'better-sqlite3';
import { AppError } from '../../lib/errors.js';

const patienceMs = 700;

/**
 * Runs a transaction, again after a short random pause while another process holds the lock. Throws UNAVAILABLE where
 * the lock stays; nothing has been written then. Others are served between two attempts.
 */
export async function retryOnBusy<T>(transaction: () => T): Promise<T> {
  const start = performance.now();
  for (;;) {
    try {
      return transaction();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() - start > patienceMs) {
        throw new AppError('UNAVAILABLE', 'Storage is busy.', { retryAfterSeconds: 1, cause: error });
      }
    }
    await wait(1 + Math.random() * 20);
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof SqliteError && /^SQLITE_(BUSY|PROTOCOL)/.test(error.code);
}
