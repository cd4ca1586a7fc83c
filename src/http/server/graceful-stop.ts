import type { Server, ServerResponse } from 'node:http';
import type { Server as SocketServer, Socket } from 'node:net';
import { setImmediate as nextIteration, setTimeout as wait } from 'node:timers/promises';

/** The open connections and responses of a server. */
export interface ServerActivity {
  readonly connections: ReadonlySet<Socket>;
  /** Responses that are not complete. */
  readonly responses: ReadonlySet<ServerResponse>;
  /** Connections without a request so far, by their remote addresses and ports. */
  readonly unused: ReadonlyMap<string, Socket>;
}

const stopTimeoutMs = 8_000;
const firstRequestTimeoutMs = 500;
const lastRequestTimeoutMs = 100;
const sweepIntervalMs = 50;
const maxIterations = 100;

/**
 * Completes the responses in progress. Resolves when all connections are closed, after 8 seconds at the latest. The
 * WebSocket server closes its connections itself.
 */
export async function stopGracefully(
  server: Server,
  { connections, responses, unused }: ServerActivity,
): Promise<void> {
  // `closeAllConnections` does not include upgraded connections, such as WebSockets.
  const deadline = setTimeout(() => connections.forEach((connection) => connection.destroy()), stopTimeoutMs);
  const closed = Promise.all(
    [...connections].map((connection) => new Promise((resolve) => connection.once('close', resolve))),
  );
  responses.forEach(announceClose);
  // Node does not count a connection without a request as idle, such as a connection that a browser opens in advance.
  const firstRequestTimeout = setTimeout(
    () => unused.forEach((connection) => connection.destroy()),
    firstRequestTimeoutMs,
  );
  await Promise.race([closed, wait(lastRequestTimeoutMs)]);
  // Each connection becomes idle when its response is complete; a single call would leave the later ones to their timeouts.
  server.closeIdleConnections();
  const sweep = setInterval(() => server.closeIdleConnections(), sweepIntervalMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(firstRequestTimeout);
  clearTimeout(deadline);
}

/** Announces to the client that the server closes the connection after this response. */
export function announceClose(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}

/**
 * Accepts the connections that wait in the backlog of a listening socket: the kernel would reset them when the port is
 * closed. One iteration of the event loop accepts one or several.
 */
export async function acceptPendingConnections(server: SocketServer): Promise<void> {
  let hasAccepted = true;
  const onConnection = () => {
    hasAccepted = true;
  };
  server.on('connection', onConnection);
  // The current iteration may have accepted connections already; the loop counts complete iterations only.
  await nextIteration();
  // Bounded, because clients may connect without end.
  for (let iteration = 0; hasAccepted && iteration < maxIterations; iteration += 1) {
    hasAccepted = false;
    await nextIteration();
  }
  server.off('connection', onConnection);
}
