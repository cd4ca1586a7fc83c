import type { IncomingMessage, ServerResponse } from 'node:http';

const unreadBytes = 16 * 1024 * 1024;
const unreadMs = 4_000;
const lookEveryMs = 50;

/**
 * Cuts a connection whose request goes on long after its answer, such as that to a body that is too large. It is not
 * cut at once: a sender that is still busy sending would never see the answer.
 */
export function cutUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  // Taken now: a body that was given up halfway has let go of its socket.
  const { socket } = request;
  response.once('finish', () => {
    if (request.complete) return;
    const deadline = performance.now() + unreadMs;
    const mostRead = socket.bytesRead + unreadBytes;
    const look = setInterval(() => {
      if (performance.now() > deadline || socket.bytesRead > mostRead) socket.destroy();
      if (request.complete || socket.destroyed) clearInterval(look);
    }, lookEveryMs);
  });
}
