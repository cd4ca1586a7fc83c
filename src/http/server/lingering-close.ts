import type { IncomingMessage, ServerResponse } from 'node:http';

const maxUnreadBytes = 16 * 1024 * 1024;
const maxUnreadMs = 4_000;
const checkIntervalMs = 50;

/**
 * Closes a connection whose client keeps sending a body after its response, such as one that is too large. The close is
 * delayed: a client whose connection is reset while it sends may never see the response.
 */
export function closeAfterUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  // Read now, because a request whose body was destroyed has no socket any more.
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
