import { errorCodeOf } from '../lib/errors.js';
import type { Logger } from '../lib/log.js';
import type { RequestRecord } from '../telemetry/ports.js';
import { errorResponse, isPublicError } from './error-response.js';
import { healthPaths } from './health.js';
import type { Middleware } from './router.js';

/** Logs each request, and ends its measurement and its trace. */
export function logRequests(log: Logger): Middleware {
  return async ({ record }, next) => {
    const response = await next();
    logRequest(log, record, response.status);
    return response;
  };
}

/** Writes the log line of a request (level debug for health checks), and ends its measurement and its trace. */
export function logRequest(log: Logger, record: RequestRecord, status: number): void {
  const { requestID, method, operation, client, route = '(other)' } = record;
  const ms = record.complete(route, status);
  // Probes every few seconds would fill the log. `createHealth` logs why a probe fails.
  const level = healthPaths.includes(route) ? 'debug' : 'info';
  log[level]({ requestID, method, route, status, operation, client, verdict: record.verdict, ms }, 'request');
}

/** Headers of every response: no caching, no MIME sniffing. */
export const defaultHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

/** Adds the headers of every response. A response with an entity tag may have its own `Cache-Control`. */
export const addDefaultHeaders: Middleware = async (request, next) => {
  const response = await next();
  const { headers } = response;
  const isCacheable = headers['etag'] !== undefined && headers['cache-control'] !== undefined;
  if (!isCacheable) headers['cache-control'] = defaultHeaders['cache-control'];
  headers['x-content-type-options'] = defaultHeaders['x-content-type-options'];
  headers['x-request-id'] = request.id;
  return response;
};

/** Responds to an error that a route throws. Logs and masks an error that is not public. */
export function maskErrors(log: Logger): Middleware {
  return async ({ id, record }, next) => {
    try {
      return await next();
    } catch (error) {
      record.verdict = errorCodeOf(error);
      if (!isPublicError(error)) log.error({ requestID: id, err: error }, 'internal error');
      return errorResponse(error, id);
    }
  };
}
