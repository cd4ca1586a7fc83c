import { clientNameHeaders } from '../telemetry/request-record.js';
import type { RequestContext } from './request-context.js';
import type { HTTPResponse } from './response.js';
import type { Middleware } from './router.js';

const allowedMethods = 'GET, HEAD, POST, PUT, DELETE';
const allowedHeaders = [
  'Authorization, X-Svc-Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Apollo-Require-Preflight',
  'X-GraphQL-Yoga-CSRF, Traceparent, Tracestate',
  ...clientNameHeaders,
].join(', ');
const exposedHeaders = 'ETag, Retry-After, X-Request-ID';
const preflightSeconds = '600';

/**
 * Allows pages of the given origins to use the service: responds to their preflight requests, and adds the CORS headers
 * to every response. An origin must match exactly. Clients send credentials in headers, so cookies are never allowed.
 */
export function createCORS(origins: readonly string[]): Middleware {
  const allowedOrigin = ({ headers }: RequestContext) => {
    const sentOrigin = headers.get('origin');
    return origins.find((origin) => origin === sentOrigin);
  };
  const preflight = (): HTTPResponse => ({
    status: 204,
    headers: {
      'access-control-allow-methods': allowedMethods,
      'access-control-allow-headers': allowedHeaders,
      'access-control-max-age': preflightSeconds,
    },
    body: null,
  });
  return async (request, next) => {
    if (origins.length === 0) return next();
    const origin = allowedOrigin(request);
    const isPreflight =
      origin !== undefined &&
      request.method === 'OPTIONS' &&
      request.headers.get('access-control-request-method') !== null;
    const response = isPreflight ? preflight() : await next();
    const { headers } = response;
    headers['vary'] = headers['vary'] === undefined ? 'Origin' : `${headers['vary']}, Origin`;
    if (origin === undefined) return response;
    headers['access-control-allow-origin'] = origin;
    headers['access-control-expose-headers'] = exposedHeaders;
    return response;
  };
}
