import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../../lib/errors.js';
import type { Logger } from '../../lib/log.js';
import { publicErrorResponse } from '../error-response.js';
import { defaultHeaders } from '../respond.js';
import { sendResponse, type HTTPResponse } from '../response.js';

/** Why the server rejects a request before it reaches the router. */
export interface Rejection {
  readonly status: number;
  readonly message: string;
  /** Default: INVALID. */
  readonly code?: ErrorCode;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Of a request that the scheduler does not admit. */
export const overloadRejection: Rejection = {
  status: 503,
  message: 'The service is overloaded. It has not executed the request.',
  code: 'UNAVAILABLE',
  headers: { 'retry-after': '1' },
};

/** How long a client may take to receive the rejection of its connection. */
const closeTimeoutMs = 2_000;

/** Rejects a request, with the error body of the REST API. */
export function rejectRequest(response: ServerResponse, rejection: Rejection): void {
  sendResponse(response, toResponse(rejection));
}

/** Rejects a request for which Node creates no `ServerResponse`, and closes the connection. */
export function rejectConnection(socket: Duplex, rejection: Rejection): void {
  const { status, headers, body } = toResponse(rejection);
  const text = typeof body === 'string' ? body : '';
  const fields = { ...headers, 'content-length': Buffer.byteLength(text), connection: 'close' };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const destroy = () => void socket.destroy();
  // No other timeout applies any more, and a write to a TLS connection that was reset may never end.
  const timer = setTimeout(destroy, closeTimeoutMs);
  socket.once('close', () => clearTimeout(timer));
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${text}`, destroy);
}

function toResponse({ status, message, code = 'INVALID', headers }: Rejection): HTTPResponse {
  // Without an Error: its stack trace would make rejections under overload more expensive.
  const error = { code, message, issues: [] };
  return publicErrorResponse(error, undefined, { status, headers: { ...defaultHeaders, ...headers } });
}

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
