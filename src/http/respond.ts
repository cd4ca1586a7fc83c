import { errorCodeOf } from '../lib/errors.js';
import type { Logger } from '../lib/log.js';
import type { RequestRecord } from '../telemetry/ports.js';
import { createCORS } from './cors.js';
import { errorResponse, isPublicError } from './error-response.js';
import { healthPaths } from './health.js';
import type { RequestContext } from './request-context.js';
import type { HTTPResponse } from './response.js';
import { createRouter, type Route } from './router.js';

/** What `createResponder` needs. */
interface ResponderDeps {
  readonly routes: readonly Route[];
  /** The origins whose pages may use the service. Default: none. */
  readonly corsOrigins?: readonly string[];
  readonly log: Logger;
}

/** Returns the response to a request, and logs it. Does not reject. */
export type Responder = (request: RequestContext) => Promise<HTTPResponse>;

/** Headers of every response: no caching, no MIME sniffing. */
export const defaultHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

/** Creates a responder: a route serves the request, and what every response has is added to its result. */
export function createResponder({ routes, corsOrigins = [], log }: ResponderDeps): Responder {
  const router = createRouter(routes);
  const cors = createCORS(corsOrigins);

  /** Logs and masks an error that is not public. */
  function responseToError(error: unknown, { id, record }: RequestContext): HTTPResponse {
    record.verdict = errorCodeOf(error);
    if (!isPublicError(error)) log.error({ requestID: id, err: error }, 'internal error');
    return errorResponse(error, id);
  }

  return async (request) => {
    const serve = router(request);
    let response = cors.preflight(request);
    try {
      response ??= await serve();
    } catch (error) {
      response = responseToError(error, request);
    }
    const { status, headers } = response;
    // A response with an entity tag may have its own `Cache-Control`.
    if (headers['etag'] === undefined) headers['cache-control'] = defaultHeaders['cache-control'];
    else headers['cache-control'] ??= defaultHeaders['cache-control'];
    headers['x-content-type-options'] = defaultHeaders['x-content-type-options'];
    headers['x-request-id'] = request.id;
    cors.addHeaders(request, headers);
    logRequest(log, request.record, status);
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
