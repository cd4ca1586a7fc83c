import { setTimeout as wait } from 'node:timers/promises';
import type { PgPool } from './pool.js';

const patienceMs = 20_000;
const betweenMs = 50;
/** One for each schema: a server may hold several installations. */
const key = `hashtextextended('keyfront ' || current_schema(), 0)`;

/**
 * Waits until no other process is opening this database or filling it, and keeps others from it until the function that
 * it resolves to is called, or this process is gone.
 */
export async function acquireDatabaseLock({ run }: PgPool): Promise<() => Promise<void>> {
  const { promise: released, resolve: letGo } = Promise.withResolvers<void>();
  return new Promise((resolve, reject) => {
    const held = run(async (session) => {
      const end = performance.now() + patienceMs;
      for (;;) {
        const [lock] = await session.query<{ is_held: boolean }>(`SELECT pg_try_advisory_lock(${key}) AS is_held`);
        if (lock?.is_held) break;
        if (performance.now() > end) throw new Error('another process has been opening or filling it for long');
        await wait(betweenMs);
      }
      resolve(async () => {
        letGo();
        await held;
      });
      await released;
      // A connection that is lost holds nothing any more.
      await session.query(`SELECT pg_advisory_unlock(${key})`).catch(() => undefined);
    });
    held.catch(reject);
  });
}
