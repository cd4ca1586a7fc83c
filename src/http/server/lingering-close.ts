import type { IncomingMessage, ServerResponse } from 'node:http';

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
