import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { refuseOn, type Refusal } from '../refusal.js';

const unreadable: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The headers are too large.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'The body has too many chunk extensions.', code: 'TOO_LARGE' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request took too long to come.' },
};

/** Answers bytes that are no request, as long as no request before them might take the answer for its own. */
export function answerUnreadable(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  underWay: ReadonlySet<ServerResponse>,
): void {
  const here = [...underWay].filter((response) => response.req.socket === socket);
  const isOthers = here.some((response) => response.headersSent || response.req.complete);
  // Errors of the connection itself, and of TLS, leave nobody who could read an answer.
  const isHTTP = /^(HPE|ERR_HTTP)_/.test(error.code ?? '');
  if (!socket.writable || !isHTTP || isOthers) return void socket.destroy();
  refuseOn(socket, unreadable[error.code ?? ''] ?? { status: 400, message: 'The request is no HTTP.' });
}
