import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

export interface RunningServer {
  /** Where it listens, such as `http://127.0.0.1:4000`. */
  readonly url: string;
  /** Stops taking requests, answers those that are under way, and resolves when all are. */
  stop(): Promise<void>;
}

const stopWithinMs = 8_000;

/** Listens. Rejects where the address is taken or not ours. */
export async function listen(handle: Handle, host: string, port: number): Promise<RunningServer> {
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 1_000, keepAliveTimeout: 5_000 },
    (request, response) => {
      if (hasSuspectTarget(request.url ?? '')) return refuse(response);
      joinRepeatedCredentials(request);
      // While it stops, a kept-alive connection is told that this answer is its last.
      if (!server.listening) response.setHeader('connection', 'close');
      handle(request, response);
    },
  );
  server.maxConnections = 10_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { address, family, port: taken } = server.address() as AddressInfo;
  const shown = family === 'IPv6' ? `[${address}]` : address;
  return { url: `http://${shown}:${taken}`, stop: () => stop(server) };
}

/** Paths that another reader of URLs would take for a different path: dot segments, backslashes, two slashes. */
function hasSuspectTarget(target: string): boolean {
  const path = target.split('?', 1)[0] ?? '';
  return !path.startsWith('/') || path.includes('//') || path.includes('\\') || /\/(\.|%2e){1,2}(\/|$)/i.test(path);
}

function refuse(response: ServerResponse): void {
  const body = JSON.stringify({ status: 'error', message: 'The path is not in its plain form.', code: 'INVALID' });
  response.writeHead(400, { 'content-type': 'application/json; charset=utf-8' }).end(body);
}

/** Node keeps the first of two `Authorization` headers and drops the other. Joined, as all others are, neither counts. */
function joinRepeatedCredentials(request: IncomingMessage): void {
  const given = request.headersDistinct['authorization'];
  if (given && given.length > 1) request.headers.authorization = given.join(', ');
}

async function stop(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Connections become idle one by one, as their requests are answered; a single call would wait for their timeouts.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const deadline = setTimeout(() => server.closeAllConnections(), stopWithinMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(deadline);
}
