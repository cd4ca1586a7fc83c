import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { rejectConnection, type Rejection } from './rejection.js';

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
