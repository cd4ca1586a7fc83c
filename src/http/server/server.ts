import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createTLSServer } from 'node:https';
import { Server as SocketServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../lib/log.js';
import type { Telemetry } from '../../telemetry/ports.js';
import { createAdmission, createOverloadWarning } from './admission-control.js';
import { healthPaths } from '../health.js';
import { listenAt } from './listen-at.js';
import { flawOf } from './request-guard.js';
import { refuse, refuseOn, type Refusal } from '../refusal.js';
import { readTLS, type TLSFiles } from './tls.js';
import { answerUnreadable } from './client-error.js';
import { cutUnreadBody } from './lingering-close.js';

/** `arrivedMs` is by the clock of `performance`. */
export type Handle = (request: IncomingMessage, response: ServerResponse, arrivedMs: number) => void;

export interface ServeOptions {
  /** Absent for plain HTTP. */
  readonly tls?: TLSFiles | undefined;
  readonly log: Logger;
  /** What takes longer is cut. */
  readonly limits?: Limits;
  readonly watch?: Telemetry | undefined;
}

export interface ListenOptions extends ServeOptions {
  readonly host: string;
  readonly port: number;
}

/** How long the parts of a request may take, in milliseconds. */
export interface Limits {
  readonly headers: number;
  /** Headers and body. */
  readonly request: number;
  /** The request and the reading of its answer, to the last byte; of events, to the last one there is. */
  readonly answer: number;
  /** The time between two requests on one connection. */
  readonly idle: number;
}

export const usualLimits: Limits = { headers: 10_000, request: 30_000, answer: 60_000, idle: 5_000 };

export interface RunningServer {
  /** Where it listens, such as `http://127.0.0.1:4000`. */
  readonly url: string;
  /** Stops taking requests, answers those that are under way, and resolves when all are. */
  stop(): Promise<void>;
}

/** A server that listens nowhere and is handed its connections. */
export interface HandedServer {
  readonly take: (socket: Socket) => void;
  /** As `RunningServer.stop`, once the last connection has been handed over. */
  stop(): Promise<void>;
}

const stopWithinMs = 8_000;
const firstRequestWithinMs = 500;
const lastRequestWithinMs = 100;
const mostTurns = 100;
const mostConnections = 10_000;
/** In bytes: the target, and the names and values of all header lines. */
const maxHeaderSize = 16 * 1024;

/** Listens. Rejects where the address is taken or not ours, or where the files of TLS cannot be used. */
export async function listen(handle: Handle, options: ListenOptions): Promise<RunningServer> {
  const { server, stop } = serverOf(handle, options);
  server.maxConnections = mostConnections;
  const address = await listenAt(server, options);
  return {
    url: `${options.tls ? 'https' : 'http'}://${address}`,
    stop: async () => {
      await acceptWaiting(server);
      // Not HTTP's own `close`, which cuts idle connections at once, and with them the requests that are on their way.
      SocketServer.prototype.close.call(server);
      await stop();
    },
  };
}

/** Serves connections that another process has accepted. Throws where the files of TLS cannot be used. */
export function serveHanded(handle: Handle, options: ServeOptions): HandedServer {
  const { server, open, stop } = serverOf(handle, options);
  // What Node's server begins when it listens: the watch over how long headers and requests take.
  server.emit('listening');
  return {
    take: (socket) => {
      if (open.size >= mostConnections) socket.destroy();
      else server.emit('connection', socket);
    },
    stop,
  };
}

function serverOf(handle: Handle, { tls, log, limits = usualLimits, watch: { meter } = {} }: ServeOptions) {
  let isStopping = false;
  const open = new Set<Socket>();
  const underWay = new Set<ServerResponse>();
  const silent = new Map<string, Socket>();
  const ending = new WeakSet<Socket>();
  const admit = createAdmission(undefined, meter);
  const overloaded = createOverloadWarning(log);

  const options: ServerOptions = optionsFor(limits);
  const server: Server = tls
    ? createTLSServer({ ...options, ...readTLS(tls), handshakeTimeout: limits.headers })
    : createServer(options);
  keepAllHeaderLines(server);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const arrivedMs = performance.now();
    const { socket } = request;
    silent.delete(peerOf(socket));
    // It would be carried out, and nobody would ever see the answer.
    if (ending.has(socket)) return;
    underWay.add(response);
    const deadline = setTimeout(() => (keepsUp(response) ? deadline.refresh() : socket.destroy()), limits.answer);
    response.once('close', () => {
      underWay.delete(response);
      clearTimeout(deadline);
    });
    if (isStopping) announceLast(response);
    cutUnreadBody(request, response);

    const flaw = flawOf(request);
    if (flaw || isStopping || !response.shouldKeepAlive) ending.add(socket);
    if (flaw) {
      meter?.refused('malformed');
      return refuse(response, flaw);
    }
    if (healthPaths.includes(request.url ?? '')) return handle(request, response, arrivedMs);
    admit(
      // Whoever hung up while the request was waiting has made it void.
      () => response.destroyed || handle(request, response, arrivedMs),
      () => {
        overloaded();
        meter?.refused('overload');
        refuse(response, busy);
      },
    );
  });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('checkContinue', (request, response) => {
    // Node looks for 100-continue anywhere in the header; a request that is rejected for it is not asked for its body.
    if (flawOf(request) === undefined) response.writeContinue();
    server.emit('request', request, response);
  });
  server.on('connect', (_request, socket) => refuseOn(socket, { status: 405, message: 'This is no proxy.' }));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code?.startsWith('HPE_')) meter?.refused('unreadable');
    answerUnreadable(error, socket, underWay);
  });

  server.on('connection', (socket) => {
    const peer = peerOf(socket);
    open.add(socket);
    silent.set(peer, socket);
    socket.once('close', () => {
      open.delete(socket);
      silent.delete(peer);
    });
  });
  return {
    server,
    open,
    stop: async () => {
      isStopping = true;
      await stop(server, open, underWay, silent);
    },
  };
}

const busy: Refusal = {
  status: 503,
  message: 'The service has more to do than it can; nothing was done.',
  code: 'UNAVAILABLE',
  headers: { 'retry-after': '1' },
};

function optionsFor({ headers, request, idle }: Limits): ServerOptions {
  return {
    headersTimeout: headers,
    requestTimeout: request,
    keepAliveTimeout: idle,
    connectionsCheckingInterval: Math.min(1_000, headers),
    // Set here so that NODE_OPTIONS cannot change them.
    insecureHTTPParser: false,
    maxHeaderSize,
    // By default Node drops the second of two `Authorization` headers; joined, neither counts.
    joinDuplicateHeaders: true,
    // Asked for by us: Node's own refusal lacks the headers that every answer has.
    requireHostHeader: false,
  };
}

/**
 * Keeps every header line of a request. By default, Node drops those beyond the 1000th, while its parser still obeys the
 * ones that frame the body. `maxHeaderSize` bounds them.
 */
export function keepAllHeaderLines(server: Server): void {
  server.maxHeadersCount = 0;
}

/** Whether by TCP or by the TLS above it, a connection is told by its other end. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** Whether an answer that has begun has been read to where it is by now: one of events goes on without end. */
function keepsUp({ headersSent, writableLength }: ServerResponse): boolean {
  return headersSent && writableLength === 0;
}

/** Tells a client that keeps its connection that it is of no use for another request. */
function announceLast(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}

/** Connections that the kernel has taken for us would be cut together with the port. A turn accepts one or some. */
export async function acceptWaiting(server: SocketServer): Promise<void> {
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

/** Answers what is under way, and resolves when all connections are closed. */
async function stop(
  server: Server,
  open: ReadonlySet<Socket>,
  underWay: ReadonlySet<ServerResponse>,
  silent: ReadonlyMap<string, Socket>,
): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), stopWithinMs);
  const closed = Promise.all([...open].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
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
