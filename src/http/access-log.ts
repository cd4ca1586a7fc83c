import type { Logger } from '../lib/log.js';
import type { Middleware } from './router.js';

/** Writes one line to the log for each request, and ends its measurement and its trace. */
export function createAccessLog(log: Logger): Middleware {
  return async ({ record }, next) => {
    const response = await next();
    const { status } = response;
    const { requestID, method, operation, route = '(other)' } = record;
    const ms = record.answered(route, status);
    log.info({ requestID, method, route, status, operation, verdict: record.verdict, ms }, 'request');
    return response;
  };
}
