import type { IncomingMessage } from 'node:http';
import { isObject } from '../../lib/json.js';

/** Headers of the connection or of its first request, which do not describe its operations. */
const connectionHeaders =
  /^(?:connection|upgrade|host|origin|expect|keep-alive|te|trailer|cookie|accept|content-|transfer-|sec-)/;

/** The headers of a handshake that apply to each operation: credentials, the names of proxies and clients, traces. */
export function headersOfHandshake({ headers }: IncomingMessage): Headers {
  const kept = Object.entries(headers).filter(([name]) => !connectionHeaders.test(name));
  return new Headers(kept.map(([name, value]): [string, string] => [name, value?.toString() ?? '']));
}

/** Header names that clients may send in `connectionParams`, because browsers cannot send headers with a handshake. */
const parameterNames: ReadonlySet<string> = new Set([
  'authorization',
  'x-svc-authorization',
  'x-keyfront-actor',
  'apollographql-client-name',
  'apollographql-client-version',
  'graphql-client-name',
  'graphql-client-version',
  'x-graphql-client-name',
  'x-graphql-client-version',
]);

/**
 * The headers of a connection after its initialization: a value in `connectionParams`, or in its member `headers`,
 * replaces the header of the handshake. Other members are ignored. Undefined when a value is not a valid header value.
 */
export function withConnectionParams(
  handshake: Headers,
  params: Readonly<Record<string, unknown>> = {},
): Headers | undefined {
  const { headers: nested } = params;
  const sentHeaders = Object.entries({ ...params, ...(isObject(nested) ? nested : {}) })
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name, value]) => parameterNames.has(name) && value !== null && value !== undefined);
  const headers = new Headers(handshake);
  for (const [name, value] of sentHeaders) {
    if (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return undefined;
    headers.set(name, value);
  }
  return headers;
}

/**
 * Whether a page may open a WebSocket: a page of the same host, or of an allowed origin. Browsers do not apply CORS to
 * WebSockets. Other clients send no origin.
 */
export function isAllowedOrigin({ headers: { origin, host } }: IncomingMessage, allowed: readonly string[]): boolean {
  if (origin === undefined || allowed.includes(origin)) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}
