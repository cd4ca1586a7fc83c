import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { rejectConnection, type Rejection } from './rejection.js';

/**
 * Listens for the errors of a connection as long as it exists. Node removes its own listener from a connection that it
 * hands over on `connect` or `upgrade`, and an error without a listener would end the process.
 */
export function surviveErrors(connection: Duplex): void {
  connection.on('error', () => connection.destroy());
}

const rejections: Readonly<Record<string, Rejection>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The headers are too large.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'The body has too many chunk extensions.', code: 'TOO_LARGE' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },
};

/**
 * Responds to bytes that Node's parser rejects. Closes the connection without a response if an earlier request on it
 * still has no complete response: the client would attribute this response to the earlier request.
 */
export function respondToClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  responses: ReadonlySet<ServerResponse>,
): void {
  const earlier = [...responses].filter((response) => response.req.socket === socket);
  const isAmbiguous = earlier.some((response) => response.headersSent || response.req.complete);
  // After an error of the connection or of TLS, no client can read a response.
  const isHTTP = /^(HPE|ERR_HTTP)_/.test(error.code ?? '');
  if (!socket.writable || !isHTTP || isAmbiguous) return void socket.destroy();
  rejectConnection(socket, rejections[error.code ?? ''] ?? { status: 400, message: 'The request is not valid HTTP.' });
}

const maxUnreadBytes = 16 * 1024 * 1024;
const maxUnreadMs = 4_000;
const checkIntervalMs = 50;

/**
 * Closes a connection whose client keeps sending a body after the response, such as a body that is too large. Delays
 * the close: a client whose connection is reset while it sends may never receive the response.
 */
export function closeAfterUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  // Read now: a request loses its socket when its body is destroyed.
  const { socket } = request;
  response.once('finish', () => {
    if (request.complete) return;
    const deadline = performance.now() + maxUnreadMs;
    const maxBytesRead = socket.bytesRead + maxUnreadBytes;
    const check = setInterval(() => {
      if (performance.now() > deadline || socket.bytesRead > maxBytesRead) socket.destroy();
      if (request.complete || socket.destroyed) clearInterval(check);
    }, checkIntervalMs);
  });
}
