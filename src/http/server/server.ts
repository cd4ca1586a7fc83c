import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createTLSServer } from 'node:https';
import { Server as SocketServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from '../../lib/log.js';
import type { Admit, Scheduler } from '../../lib/scheduler.js';
import type { Telemetry } from '../../telemetry/ports.js';
import { healthPaths } from '../health.js';
import { closeAfterUnreadBody, respondToClientError, surviveErrors } from './connection-errors.js';
import { acceptPendingConnections, announceClose, stopGracefully } from './graceful-stop.js';
import { listenAt } from './listen-at.js';
import { createOverloadLog, overloadRejection, rejectConnection, rejectRequest, type Rejection } from './rejection.js';
import { validateRequest } from './request-guard.js';
import { readTLS, type TLSFiles } from './tls.js';

/** Serves a request. `arrivedMs` is the time of its arrival by `performance.now()`. */
export type RequestListener = (request: IncomingMessage, response: ServerResponse, arrivedMs: number) => void;

/** Options of a server that receives its connections from another process. */
export interface ServeOptions {
  /** Undefined for plain HTTP. */
  readonly tls?: TLSFiles | undefined;
  readonly log: Logger;
  /** Admits the requests, and divides the time of the event loop among them. */
  readonly scheduler: Scheduler;
  /** The server closes a connection that exceeds one of them. */
  readonly timeouts?: ServerTimeouts;
  readonly telemetry?: Telemetry | undefined;
  /** Undefined if there are no WebSockets. */
  readonly webSockets?: WebSocketUpgrades | undefined;
}

/** Options of a server that listens at an address. */
export interface ListenOptions extends ServeOptions {
  readonly host: string;
  readonly port: number;
}

/** The maximum duration of each part of a request, in milliseconds. */
export interface ServerTimeouts {
  readonly headersMs: number;
  /** Headers and body. */
  readonly requestMs: number;
  /** From the request until the client has read the response; of an event stream, until it has read the last event. */
  readonly responseMs: number;
  /** Between two requests of one connection. */
  readonly idleMs: number;
}

/** The timeouts of the service; tests shorten them. */
export const defaultTimeouts: ServerTimeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  responseMs: 60_000,
  idleMs: 5_000,
};

/** Opens WebSockets for the server. */
export interface WebSocketUpgrades {
  /**
   * Whether a request is the handshake of a WebSocket that the service provides. The server ignores other upgrades, as
   * RFC 9110 (7.8) allows.
   */
  readonly accepts: (request: IncomingMessage) => boolean;
  /** Takes over the connection of a request. Its operations pass admission control (`admit`) like requests. */
  readonly open: (request: IncomingMessage, socket: Duplex, head: Buffer, admit: Admit) => void;
}

/** A server that listens. */
export interface RunningServer {
  /** The URL of the server, such as `http://127.0.0.1:4000`. */
  readonly url: string;
  /** Stops accepting connections. Resolves when all responses in progress are complete. */
  stop(): Promise<void>;
}

/** A server without a port, which serves the connections that `accept` receives. */
export interface ConnectionServer {
  readonly accept: (socket: Socket) => void;
  /** As `RunningServer.stop`. The caller must not call `accept` afterwards. */
  stop(): Promise<void>;
}

const maxConnections = 10_000;
/** The maximum size of the target and of all header lines, in bytes. */
const maxHeaderSize = 16 * 1024;

/**
 * Listens at an address.
 *
 * @throws {Error} when the address cannot be used, or the files of TLS are not valid
 */
export async function listen(handle: RequestListener, options: ListenOptions): Promise<RunningServer> {
  const { server, stop } = createHTTPServer(handle, options);
  server.maxConnections = maxConnections;
  const address = await listenAt(server, options);
  return {
    url: `${options.tls ? 'https' : 'http'}://${address}`,
    stop: async () => {
      await acceptPendingConnections(server);
      // `close` of node:http would close idle connections at once, and lose requests in transit on them.
      SocketServer.prototype.close.call(server);
      await stop();
    },
  };
}

/**
 * Serves connections that another process has accepted.
 *
 * @throws {Error} when the files of TLS are not valid
 */
export function serveConnections(handle: RequestListener, options: ServeOptions): ConnectionServer {
  const { server, connections, stop } = createHTTPServer(handle, options);
  // Node's server starts to enforce the timeouts of headers and requests on this event.
  server.emit('listening');
  return {
    accept: (socket) => {
      if (connections.size >= maxConnections) socket.destroy();
      else server.emit('connection', socket);
    },
    stop,
  };
}

function createHTTPServer(
  handle: RequestListener,
  { tls, log, scheduler, timeouts = defaultTimeouts, telemetry: { meter } = {}, webSockets }: ServeOptions,
) {
  let isStopping = false;
  const connections = new Set<Socket>();
  const responses = new Set<ServerResponse>();
  const unused = new Map<string, Socket>();
  /** Connections that close after the response to their last request. */
  const closing = new WeakSet<Socket>();
  const logOverload = createOverloadLog(log);
  const admit = (start: () => void, reject: (rejection: Rejection) => void) =>
    scheduler.admit(start, () => {
      logOverload();
      meter?.countRejection('overload');
      reject(overloadRejection);
    });

  const options = { ...serverOptions(timeouts), ...(webSockets && { shouldUpgradeCallback: webSockets.accepts }) };
  const server: Server = tls
    ? createTLSServer({ ...options, ...readTLS(tls), handshakeTimeout: timeouts.headersMs })
    : createServer(options);
  keepAllHeaderLines(server);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const arrivedMs = performance.now();
    const { socket } = request;
    unused.delete(remoteEndpointOf(socket));
    // A pipelined request: its client would never receive the response.
    if (closing.has(socket)) return;
    responses.add(response);
    const deadline = setTimeout(
      () => (hasClientReadAll(response) ? deadline.refresh() : socket.destroy()),
      timeouts.responseMs,
    );
    response.once('close', () => {
      responses.delete(response);
      clearTimeout(deadline);
    });
    if (isStopping) announceClose(response);
    closeAfterUnreadBody(request, response);

    const rejection = validateRequest(request);
    if (rejection || isStopping || !response.shouldKeepAlive) closing.add(socket);
    if (rejection) {
      meter?.countRejection('malformed');
      return rejectRequest(response, rejection);
    }
    if (healthPaths.includes(request.url ?? '')) return handle(request, response, arrivedMs);
    admit(
      // The client may have closed the connection while the request was waiting.
      () => response.destroyed || handle(request, response, arrivedMs),
      (reason) => rejectRequest(response, reason),
    );
  });
  if (webSockets) {
    server.on('upgrade', (request, socket, head) => {
      unused.delete(remoteEndpointOf(request.socket));
      const rejection = validateRequest(request) ?? (webSockets.accepts(request) ? undefined : upgradeRejection);
      if (rejection) {
        meter?.countRejection('malformed');
        return rejectConnection(socket, rejection);
      }
      admit(
        () => webSockets.open(request, socket, head, scheduler.admit),
        (reason) => rejectConnection(socket, reason),
      );
    });
  }
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('checkContinue', (request, response) => {
    // Node finds 100-continue anywhere in the header. The client of a rejected request must not send its body.
    if (validateRequest(request) === undefined) response.writeContinue();
    server.emit('request', request, response);
  });
  server.on('connect', (_request, socket) => rejectConnection(socket, { status: 405, message: 'This is no proxy.' }));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code?.startsWith('HPE_')) meter?.countRejection('unreadable');
    respondToClientError(error, socket, responses);
  });

  server.on('connection', surviveErrors);
  // The TLS connection above it, which handlers receive instead.
  server.on('secureConnection', surviveErrors);
  server.on('connection', (socket) => {
    scheduler.connected();
    const remoteEndpoint = remoteEndpointOf(socket);
    connections.add(socket);
    unused.set(remoteEndpoint, socket);
    socket.once('close', () => {
      connections.delete(socket);
      unused.delete(remoteEndpoint);
    });
  });
  return {
    server,
    connections,
    stop: async () => {
      isStopping = true;
      await stopGracefully(server, { connections, responses, unused });
    },
  };
}

/** Node before 22.21 and 24.9 cannot ignore an upgrade and serve the request. */
const upgradeRejection: Rejection = {
  status: 400,
  message:
    'This Node supports the Upgrade header for WebSockets at /graphql only. Send no Upgrade header, or run the service with Node 24.9 or later.',
};

function serverOptions({ headersMs, requestMs, idleMs }: ServerTimeouts): ServerOptions {
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(1_000, headersMs),
    // Set here so that NODE_OPTIONS cannot change them.
    insecureHTTPParser: false,
    maxHeaderSize,
    // By default, Node drops the second of two `Authorization` headers. A joined header is not valid.
    joinDuplicateHeaders: true,
    // The request guard checks the header: Node's own response lacks the default headers.
    requireHostHeader: false,
  };
}

/**
 * Keeps every header line of a request. By default, Node drops the lines beyond the 1000th, while its parser still
 * applies the lines that frame the body. `maxHeaderSize` limits their size.
 */
export function keepAllHeaderLines(server: Server): void {
  server.maxHeadersCount = 0;
}

/** The remote address and port, which are the same for a TCP connection and for the TLS connection above it. */
function remoteEndpointOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** Whether the client has read all of a response that was written so far. An event stream has no end. */
function hasClientReadAll({ headersSent, writableLength }: ServerResponse): boolean {
  return headersSent && writableLength === 0;
}
