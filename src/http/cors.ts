const methods = 'GET, HEAD, POST, PUT, DELETE';
const sent =
  'Authorization, X-Svc-Authorization, Content-Type, If-Match, If-None-Match, Apollo-Require-Preflight, X-GraphQL-Yoga-CSRF, Traceparent, Tracestate';
const shown = 'ETag, Retry-After, X-Request-ID';
const preflightSeconds = '600';

/** What pages of other origins may do. Without an origin that is allowed, no answer says a word about it. */
export interface CORS {
  /** The answer to a browser that asks before it sends; undefined for every other request. */
  readonly answerPreflight: (request: Request) => Response | undefined;
  /** What every answer says, also to those who come from no origin. */
  readonly always: Readonly<Record<string, string>>;
  /** Adds to an answer what lets an allowed page read it. */
  readonly addTo: (answer: Headers, request: Request) => void;
}

/** Lets the origins through, each to the letter. Credentials are headers of ours, so that cookies are never let through. */
export function createCORS(origins: readonly string[]): CORS {
  const allowed = (request: Request) => origins.find((origin) => origin === request.headers.get('origin'));
  const always: Readonly<Record<string, string>> = origins.length === 0 ? {} : { vary: 'Origin' };
  return {
    always,
    answerPreflight: (request) => {
      const asks = request.method === 'OPTIONS' && request.headers.has('access-control-request-method');
      if (!asks || allowed(request) === undefined) return undefined;
      return new Response(null, {
        status: 204,
        headers: {
          'access-control-allow-methods': methods,
          'access-control-allow-headers': sent,
          'access-control-max-age': preflightSeconds,
        },
      });
    },
    addTo: (answer, request) => {
      for (const [name, value] of Object.entries(always)) answer.append(name, value);
      const origin = allowed(request);
      if (origin === undefined) return;
      answer.set('access-control-allow-origin', origin);
      answer.set('access-control-expose-headers', shown);
    },
  };
}
