import { clientNameHeaders } from '../telemetry/request-record.js';
import type { RequestContext } from './request-context.js';
import type { HTTPResponse } from './response.js';

const allowedMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const allowedHeaders = [
  'Authorization, X-Svc-Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Apollo-Require-Preflight',
  'X-Keyfront-Actor, X-GraphQL-Yoga-CSRF, Traceparent, Tracestate',
  ...clientNameHeaders,
].join(', ');
const exposedHeaders = 'ETag, Retry-After, X-Request-ID';
const preflightSeconds = '600';

/** What CORS adds to responses. */
interface CORS {
  /** The response to a preflight request of an allowed origin; undefined for any other request. */
  readonly preflight: (request: RequestContext) => HTTPResponse | undefined;
  /** Adds the headers of CORS to those of a response. */
  readonly addHeaders: (request: RequestContext, headers: Record<string, string>) => void;
}

/**
 * Allows pages of the given origins to use the service. An origin must match exactly. Clients send credentials in headers,
 * so cookies are never allowed.
 */
export function createCORS(origins: readonly string[]): CORS {
  const allowedOrigin = ({ headers }: RequestContext) => {
    const sentOrigin = headers.get('origin');
    return origins.find((origin) => origin === sentOrigin);
  };
  return {
    preflight(request) {
      const isPreflight =
        request.method === 'OPTIONS' &&
        request.headers.get('access-control-request-method') !== null &&
        allowedOrigin(request) !== undefined;
      if (!isPreflight) return undefined;
      const headers = {
        'access-control-allow-methods': allowedMethods,
        'access-control-allow-headers': allowedHeaders,
        'access-control-max-age': preflightSeconds,
      };
      return { status: 204, headers, body: null };
    },
    addHeaders(request, headers) {
      if (origins.length === 0) return;
      headers['vary'] = headers['vary'] === undefined ? 'Origin' : `${headers['vary']}, Origin`;
      const origin = allowedOrigin(request);
      if (origin === undefined) return;
      headers['access-control-allow-origin'] = origin;
      headers['access-control-expose-headers'] = exposedHeaders;
    },
  };
}
