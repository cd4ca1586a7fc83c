import { setTimeout as wait } from 'node:timers/promises';
import type { PgPool } from './pool.js';

const timeoutMs = 20_000;
const retryDelayMs = 50;
/** One lock per schema: a server may hold several installations. */
const key = `hashtextextended('keyfront ' || current_schema(), 0)`;

/**
 * Acquires the lock under which one process at a time opens or fills this database. Resolves to the function that releases
 * it; the lock also ends with the connection.
 */
export async function acquireDatabaseLock({ run }: PgPool): Promise<() => Promise<void>> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  return new Promise((resolve, reject) => {
    const held = run(async (session) => {
      const end = performance.now() + timeoutMs;
      for (;;) {
        const [lock] = await session.query<{ is_acquired: boolean }>(
          `SELECT pg_try_advisory_lock(${key}) AS is_acquired`,
        );
        if (lock?.is_acquired) break;
        if (performance.now() > end)
          throw new Error(`another process has been opening or filling it for ${timeoutMs / 1000} seconds`);
        await wait(retryDelayMs);
      }
      resolve(async () => {
        release();
        await held;
      });
      await released;
      // A lost connection holds no lock.
      await session.query(`SELECT pg_advisory_unlock(${key})`).catch(() => undefined);
    });
    held.catch(reject);
  });
}
