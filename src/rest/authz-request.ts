import { malformedParameter, parseQuery } from '../http/query-parameters.js';
import type { RequestContext, RequestHeaders } from '../http/request-context.js';
import { idempotencyKeyProblem } from '../keys/idempotency.js';
import { AppError } from '../lib/errors.js';

/** Where the client of a gateway sends its key. */
export type KeyPlace =
  { readonly kind: 'header' | 'query'; readonly name: string } | { readonly kind: 'bearer' | 'basic' };

/** What the configuration of a gateway states in the URL of `/authz`, which its clients cannot choose. */
export interface AuthzOptions {
  readonly api: string | undefined;
  readonly version: string | undefined;
  readonly key: KeyPlace;
  /** Requests that each one takes from the quota. */
  readonly amount: bigint;
  /** Whether the gateway identifies each request in `X-Request-ID`. */
  readonly hasRequestID: boolean;
  /** Whether the response has the alias of the key. */
  readonly hasAlias: boolean;
}

/** The request that a client sent to the gateway. */
export interface OriginalRequest {
  readonly method: string;
  /** Without the query, still percent-encoded. */
  readonly path: string;
  readonly query: string;
}

const optionNames = ['api', 'version', 'key', 'count', 'request_id', 'alias'];

/**
 * Parses the options, in the form of a query string.
 *
 * @throws {AppError} INVALID with the name of the option.
 */
export function parseAuthzOptions(text: string): AuthzOptions {
  const options = parseQuery(text);
  for (const name of options.keys()) {
    if (!optionNames.includes(name)) throw malformedParameter(name, `must be one of ${optionNames.join(', ')}`);
  }
  const flag = (name: string, byDefault: boolean) => {
    const value = options.get(name);
    if (value !== undefined && value !== '0' && value !== '1') throw malformedParameter(name, 'must be 0 or 1');
    return value === undefined ? byDefault : value === '1';
  };
  return {
    api: options.get('api'),
    version: options.get('version'),
    key: keyPlaceOf(options.get('key') ?? 'header:x-api-key'),
    amount: flag('count', true) ? 1n : 0n,
    hasRequestID: flag('request_id', false),
    hasAlias: flag('alias', false),
  };
}

/** @throws {AppError} INVALID */
function keyPlaceOf(text: string): KeyPlace {
  if (text === 'bearer' || text === 'basic') return { kind: text };
  const [, kind, name = ''] = /^(header|query):(.{1,100})$/s.exec(text) ?? [];
  if (kind === 'query') return { kind, name };
  if (kind === 'header' && /^[\w-]+$/.test(name)) return { kind, name: name.toLowerCase() };
  throw malformedParameter('key', 'must be header:NAME, bearer, basic or query:NAME');
}

/**
 * Reads the original request from the headers that a gateway sets.
 *
 * @throws {AppError} INVALID with the name of a header that is missing, repeated or malformed.
 */
export function forwardedRequest(headers: RequestHeaders): OriginalRequest {
  // A repeated header is joined by a comma and a space, which neither can have.
  const method = headers.get('x-forwarded-method');
  if (method === null || !/^[A-Za-z-]{1,32}$/.test(method))
    throw malformedHeader('X-Forwarded-Method', 'an HTTP method');
  const target = headers.get('x-forwarded-uri');
  if (target === null || !/^\/[\x21-\x7e]*$/.test(target))
    throw malformedHeader('X-Forwarded-Uri', 'the path and the query as the client sent them');
  return { method, ...splitTarget(target) };
}

/**
 * Splits what follows the prefix of a gateway that adds the path of its request to that of `/authz`.
 *
 * @throws {AppError} INVALID when the options or the path are missing.
 */
export function prefixedRequest({ method, query }: RequestContext, rest: string): [options: string, OriginalRequest] {
  const end = rest.indexOf('/');
  if (end < 1)
    throw new AppError('INVALID', 'The path must have options and the path of the request behind /authz/envoy/.');
  return [rest.slice(0, end), { method, path: rest.slice(end), query }];
}

function splitTarget(target: string): Pick<OriginalRequest, 'path' | 'query'> {
  const end = target.indexOf('?');
  return end < 0 ? { path: target, query: '' } : { path: target.slice(0, end), query: target.slice(end + 1) };
}

/**
 * The identifier that the gateway gave to the request.
 *
 * @throws {AppError} INVALID when it is missing or malformed: counting the request each time would hide the mistake.
 */
export function gatewayRequestID(headers: RequestHeaders): string {
  const id = headers.get('x-request-id') ?? '';
  if (idempotencyKeyProblem(id) === undefined) return id;
  throw malformedHeader('X-Request-ID', '1 to 255 visible ASCII characters');
}

function malformedHeader(name: string, expected: string): AppError {
  return new AppError('INVALID', `The gateway must send ${name} once: ${expected}.`);
}

/** Returns the identifier that the client sent; undefined if it sent none, or several. */
export function sentKeyID(place: KeyPlace, headers: RequestHeaders, { query }: OriginalRequest): string | undefined {
  switch (place.kind) {
    case 'header':
      return textOfHeader(headers.get(place.name));
    case 'bearer':
      return textOfHeader(/^bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1]);
    case 'basic': {
      const [, encoded] = /^basic +([\w+/-]+=*)$/i.exec(headers.get('authorization') ?? '') ?? [];
      return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8').split(':', 1)[0];
    }
    case 'query':
      return parameterOf(query, place.name);
  }
}

/** Node reads headers as Latin-1. Clients send UTF-8. */
function textOfHeader(value: string | null | undefined): string | undefined {
  if (value === null || value === undefined || value === '') return undefined;
  return /[\x80-\xff]/.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value;
}

/** The parameter of a query that may have anything else beside. */
function parameterOf(query: string, wanted: string): string | undefined {
  const found = query.split('&').flatMap((parameter) => {
    const [name = '', value = ''] = parameter.split(/=(.*)/s);
    return decoded(name) === wanted ? [decoded(value)] : [];
  });
  return found.length === 1 ? found[0] : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
