import { receiptLifetimeMs } from '../keys/commands/idempotency.js';
import type { Services } from './open-storage.js';
import type { Logger } from '../lib/log.js';

/** Work that runs at an interval. `stop` resolves when no run is in progress. */
interface ScheduledJob {
  readonly stop: () => Promise<void>;
}

function every(milliseconds: number, work: () => Promise<void>, first = Promise.resolve()): ScheduledJob {
  let running = first;
  const timer = setInterval(() => {
    running = running.then(work);
  }, milliseconds).unref();
  return {
    stop: () => {
      clearInterval(timer);
      return running;
    },
  };
}

const purgeEveryMs = 3_600_000;

/** Purges keys whose restore window is over, now and every hour. */
export function startPurging({ store, now }: Services, restoreWindowMs: number, log: Logger): ScheduledJob {
  const purge = async () => {
    try {
      const purged = await store.purge(new Date(now().getTime() - restoreWindowMs));
      if (purged > 0) log.info({ purged }, 'deleted keys purged');
      await store.purgeReceipts(new Date(now().getTime() - receiptLifetimeMs));
    } catch (error) {
      log.error({ err: error }, 'purging failed; it is tried again in an hour');
    }
  };
  return every(purgeEveryMs, purge, purge());
}

const checkEveryMs = 1_000;

/** Detects that the files of the database were replaced, or that a full disk has free space again. */
export function startStorageChecks(installation: Services, log: Logger): ScheduledJob {
  return every(checkEveryMs, async () => {
    try {
      await installation.checkWritable();
    } catch (error) {
      log.error({ err: error }, 'storage could not be checked');
    }
  });
}

const reportEveryMs = 20_000;

/** Reports the key ring of this host to the other hosts of the database, for the stages of a rotation. */
export function startRingReports({ ringReports }: Services, log: Logger): ScheduledJob {
  const report = async () => {
    try {
      await ringReports.report();
    } catch (error) {
      log.error({ err: error }, 'the key ring could not be reported to the other hosts');
    }
  };
  return every(reportEveryMs, report, report());
}

const shrinkEveryMs = 30_000;

/** Keeps the write-ahead log from staying as large as a long reader once made it. */
export function startShrinking(installation: Services, log: Logger): ScheduledJob {
  return every(shrinkEveryMs, async () => {
    try {
      const found = await installation.shrinkWriteAheadLog();
      if (found?.isDone === false) {
        log.warn(
          { bytes: found.bytes },
          'the write-ahead log grows, because a process reads the database for a long time',
        );
      }
    } catch (error) {
      log.error({ err: error }, 'the write-ahead log could not be shrunk');
    }
  });
}

const checkpointEveryMs = 10_000;
const publishEveryMs = 600_000;

/** Verifies keys against checkpoints, brings these up to date, and publishes the newest in the log. */
export function startCheckpoints(
  { checkpoints, now }: Services,
  restoreWindowMs: number,
  log: Logger,
  everyMs = checkpointEveryMs,
): ScheduledJob {
  const reported = new Set<string>();
  let nextPublication = 0;
  return every(everyMs, async () => {
    try {
      const purgedBefore = new Date(now().getTime() - restoreWindowMs);
      const { rollbacks } = await checkpoints.advance({ purgedBefore });
      for (const { kind, head } of rollbacks) {
        const name = `${kind} ${head.keyHash}`;
        if (!reported.has(name)) log.error({ keyHash: head.keyHash, kind }, 'an older state of a key was put back');
        reported.add(name);
      }
      if (performance.now() < nextPublication) return;
      nextPublication = performance.now() + publishEveryMs;
      const checkpoint = await checkpoints.publish(now(), publishEveryMs);
      if (checkpoint) log.info({ sequence: checkpoint.sequence, digest: checkpoint.digest }, 'head published');
    } catch (error) {
      log.error({ err: error }, 'the keys could not be verified against the head');
    }
  });
}
