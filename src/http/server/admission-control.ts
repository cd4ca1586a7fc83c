import type { Logger } from '../../lib/log.js';
import type { Scheduler } from '../../lib/scheduler.js';

/** Starts a request at once or after the requests that wait, or rejects it. */
export type Enqueue = Scheduler['admit'];

const logIntervalMs = 10_000;

/** Logs that requests are rejected, and how many: two lines per ten seconds instead of one per request. */
export function createOverloadLog(log: Logger): () => void {
  let rejected = 0;
  return () => {
    rejected += 1;
    if (rejected > 1) return;
    log.warn('overloaded: requests are rejected');
    setTimeout(() => {
      log.warn({ rejected }, 'requests rejected in the last ten seconds');
      rejected = 0;
    }, logIntervalMs).unref();
  };
}
