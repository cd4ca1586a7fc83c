import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Authenticate, AuthContext, CredentialKind } from '../credentials/credential.js';
import type { RequestRecord } from '../telemetry/ports.js';
import { readBytes } from './body.js';

/** Request headers by their names in lower case; a repeated header is joined by commas. */
export interface RequestHeaders {
  readonly get: (name: string) => string | null;
}

/** A request as it arrives: from Node's server, or from `fetch`. */
export interface IncomingRequest {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  readonly headers: RequestHeaders;
  /** The body as a stream; undefined when there is none. Called once. */
  readonly openBody: () => Readable | undefined;
  /** A signal that is aborted when the client disconnects before the response is complete. Called once. */
  readonly openSignal: () => AbortSignal;
}

interface RequestContextDeps {
  readonly record: RequestRecord;
  readonly clientAddress: string | undefined;
  readonly authenticate: Authenticate;
}

/**
 * A request and its memoised body and principals. All parts that serve it share it, so that the body is read once and
 * an invalid credential counts as one failed attempt.
 */
export interface RequestContext {
  /** Appears in the log, in errors and in the header `X-Request-ID`. */
  readonly id: string;
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  readonly path: string;
  /** The query without its question mark. */
  readonly query: string;
  readonly headers: RequestHeaders;
  /** The address of the client; undefined for a request without a network connection, such as in tests. */
  readonly clientAddress: string | undefined;
  /** The data of the log line and the metrics. Completed while the request is served. */
  readonly record: RequestRecord;
  /**
   * Reads the body at the first call, with the limit of that call. Later calls return the same promise.
   *
   * @throws {AppError} TOO_LARGE, or INVALID with the issue INCOMPLETE_BODY.
   */
  readonly body: (limitBytes: number) => Promise<Uint8Array>;
  /**
   * Verifies the credentials of the request at the first call. Returns the principals; an invalid credential does not
   * reject the promise.
   *
   * @param kinds - which are verified. Default: all. Later calls return the same promise.
   */
  readonly principal: (kinds?: readonly CredentialKind[]) => Promise<AuthContext>;
  /** Aborted when the client disconnects before the response is complete. */
  readonly signal: () => AbortSignal;
}

/** Creates the context of a request. */
export function createRequestContext(
  { method, target, headers, openBody, openSignal }: IncomingRequest,
  { record, clientAddress, authenticate }: RequestContextDeps,
): RequestContext {
  const id = record.requestID;
  let body: Promise<Uint8Array> | undefined;
  let principal: Promise<AuthContext> | undefined;
  let signal: AbortSignal | undefined;
  const pathEnd = target.indexOf('?');
  return {
    id,
    method,
    target,
    path: pathEnd < 0 ? target : target.slice(0, pathEnd),
    query: pathEnd < 0 ? '' : target.slice(pathEnd + 1),
    headers,
    clientAddress,
    record,
    body: (limitBytes) => (body ??= readBytes(openBody(), limitBytes)),
    principal: (kinds) => (principal ??= authenticate({ headers, requestID: id, clientAddress, kinds })),
    signal: () => (signal ??= openSignal()),
  };
}

/** Adapts a request of Node's server. */
export function incomingFromNode(request: IncomingMessage, response: ServerResponse): IncomingRequest {
  const { method = '', url = '', headers } = request;
  return {
    method,
    target: url,
    headers: { get: (name) => headers[name]?.toString() ?? null },
    openBody: () => request,
    openSignal: () => signalOf(response),
  };
}

function signalOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const onClose = () => {
    if (!response.writableFinished) controller.abort();
  };
  if (response.destroyed) onClose();
  else response.once('close', onClose);
  return controller.signal;
}

/**
 * Adapts a request of `fetch`, whose URL is absolute. The result keeps the request alive: once Node has collected it, its
 * signal does not follow the signal of the caller any more.
 */
export function incomingFromFetch(request: Request): IncomingRequest {
  const { method, url, headers, body } = request;
  return {
    method,
    target: url.replace(/^[a-z]+:\/\/[^/?#]*/i, ''),
    headers,
    openBody: () => (body ? Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]) : undefined),
    openSignal: () => request.signal,
  };
}
