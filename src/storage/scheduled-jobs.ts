import type { Services } from './open-storage.js';
import type { Logger } from '../lib/log.js';

/** Work that is done again and again. Once it has stopped, none of it is under way. */
interface Chore {
  readonly stop: () => Promise<void>;
}

function every(milliseconds: number, work: () => Promise<void>, first = Promise.resolve()): Chore {
  let underWay = first;
  const timer = setInterval(() => {
    underWay = underWay.then(work);
  }, milliseconds).unref();
  return {
    stop: () => {
      clearInterval(timer);
      return underWay;
    },
  };
}

const purgeEveryMs = 3_600_000;

/** Removes what was deleted too long ago to be restored: now, and every hour. */
export function startPurging({ store, now }: Services, restoreWindowMs: number, log: Logger): Chore {
  const purge = async () => {
    try {
      const purged = await store.purge(new Date(now().getTime() - restoreWindowMs));
      if (purged > 0) log.info({ purged }, 'deleted keys purged');
    } catch (error) {
      log.error({ err: error }, 'purging failed; it is tried again in an hour');
    }
  };
  return every(purgeEveryMs, purge, purge());
}

const checkEveryMs = 1_000;

/** Finds out without a request that the database's files were replaced, or that a full disk has room again. */
export function startStorageChecks(installation: Services, log: Logger): Chore {
  return every(checkEveryMs, async () => {
    try {
      await installation.checkWritable();
    } catch (error) {
      log.error({ err: error }, 'storage could not be checked');
    }
  });
}

const shrinkEveryMs = 30_000;

/** Keeps the write-ahead log from staying as large as a long reader once made it. */
export function startShrinking(installation: Services, log: Logger): Chore {
  return every(shrinkEveryMs, async () => {
    try {
      const found = await installation.shrinkLog();
      if (found?.isDone === false) {
        log.warn({ bytes: found.bytes }, 'the write-ahead log grows, because somebody reads the database for long');
      }
    } catch (error) {
      log.error({ err: error }, 'the write-ahead log could not be shrunk');
    }
  });
}
