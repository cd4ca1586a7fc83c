import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as SocketServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

export interface RunningServer {
  /** Where it listens, such as `http://127.0.0.1:4000`. */
  readonly url: string;
  /** Stops taking requests, answers those that are under way, and resolves when all are. */
  stop(): Promise<void>;
}

const stopWithinMs = 8_000;
const firstRequestWithinMs = 500;
const lastRequestWithinMs = 100;
const mostTurns = 100;

/** Listens. Rejects where the address is taken or not ours. */
export async function listen(handle: Handle, host: string, port: number): Promise<RunningServer> {
  const underWay = new Set<ServerResponse>();
  const silent = new Set<Socket>();
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 1_000, keepAliveTimeout: 5_000 },
    (request, response) => {
      silent.delete(request.socket);
      if (hasSuspectTarget(request.url ?? '')) return refuse(response, 'The path is not in its plain form.');
      if (!hasPlainHost(request)) return refuse(response, 'The header Host is not a name or an address.');
      joinRepeatedCredentials(request);
      underWay.add(response);
      response.once('close', () => underWay.delete(response));
      if (!server.listening) announceLast(response);
      handle(request, response);
    },
  );
  server.maxConnections = 10_000;
  server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { address, family, port: taken } = server.address() as AddressInfo;
  const shown = family === 'IPv6' ? `[${address}]` : address;
  return { url: `http://${shown}:${taken}`, stop: () => stop(server, underWay, silent) };
}

/** Paths that another reader of URLs would take for a different path: dot segments, backslashes, two slashes. */
function hasSuspectTarget(target: string): boolean {
  const path = target.split('?', 1)[0] ?? '';
  return !path.startsWith('/') || path.includes('//') || path.includes('\\') || /\/(\.|%2e){1,2}(\/|$)/i.test(path);
}

/** Whether `Host` can stand in a URL: what cannot would fail later, and with a stack trace for an answer. */
function hasPlainHost({ headers: { host = '' } }: IncomingMessage): boolean {
  return host === '' || (/^([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?$/i.test(host) && URL.canParse(`http://${host}`));
}

function refuse(response: ServerResponse, message: string): void {
  const body = JSON.stringify({ status: 'error', message, code: 'INVALID' });
  response.writeHead(400, { 'content-type': 'application/json; charset=utf-8' }).end(body);
}

/** Node keeps the first of two `Authorization` headers and drops the other. Joined, as all others are, neither counts. */
function joinRepeatedCredentials(request: IncomingMessage): void {
  const given = request.headersDistinct['authorization'];
  if (given && given.length > 1) request.headers.authorization = given.join(', ');
}

/** Tells a client that keeps its connection that it is of no use for another request. */
function announceLast(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}

/** Connections that the kernel has taken for us would be cut together with the port. A turn accepts one or some. */
async function acceptWaiting(server: Server): Promise<void> {
  let isAccepted = true;
  const note = () => {
    isAccepted = true;
  };
  server.on('connection', note);
  // We were called in the midst of a turn; those counted below are whole.
  await nextTurn();
  // Those who come without end are not waited for.
  for (let turn = 0; isAccepted && turn < mostTurns; turn += 1) {
    isAccepted = false;
    await nextTurn();
  }
  server.off('connection', note);
}

async function stop(server: Server, underWay: ReadonlySet<ServerResponse>, silent: ReadonlySet<Socket>): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), stopWithinMs);
  await acceptWaiting(server);
  // Not HTTP's own `close`, which cuts idle connections at once, and with them the requests that are on their way.
  const closed = new Promise<void>((resolve) => SocketServer.prototype.close.call(server, () => resolve()));
  underWay.forEach(announceLast);
  // Node does not count as idle what has not made a request at all, such as the connection a browser opens in advance.
  const patience = setTimeout(() => silent.forEach((socket) => socket.destroy()), firstRequestWithinMs);
  await Promise.race([closed, wait(lastRequestWithinMs)]);
  // Connections become idle one by one, as their requests are answered; a single call would wait for their timeouts.
  server.closeIdleConnections();
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  await closed;
  clearInterval(sweep);
  clearTimeout(patience);
  clearTimeout(deadline);
}
