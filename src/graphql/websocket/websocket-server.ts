import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { parse } from 'graphql';
import { CloseCode, handleProtocols, makeServer } from 'graphql-ws';
import { WebSocketServer, type WebSocket } from 'ws';
import { rejectConnection, type Rejection } from '../../http/server/rejection.js';
import type { WebSocketUpgrades } from '../../http/server/server.js';
import { AppError } from '../../lib/errors.js';
import type { Logger } from '../../lib/log.js';
import type { Admit } from '../../lib/scheduler.js';
import { servedSchema } from '../schema/served.js';
import { headersOfHandshake, isAllowedOrigin, withConnectionParams } from './handshake.js';
import { openOperation, readMessage, type Connection } from './connection.js';
import { readMessages } from './message-reader.js';
import type { OperationDeps, OperationResults } from './operation.js';

/** Limits of one connection. */
const limits = {
  /** A request body of 128 KiB, with the members of the message around it. */
  messageBytes: 129 * 1024,
  /** Two responses of the maximum size. A client that reads more slowly loses its connection. */
  bufferedBytes: 4 * 1024 * 1024,
  initMs: 3_000,
  /** How long the client may take to confirm that the connection is closed. */
  closeMs: 2_000,
  /** Frames of one message. A client that sends it in frames of 1 KiB needs fewer. */
  fragments: 256,
  /** Of the reason in a close frame, by RFC 6455 (5.5). */
  reasonBytes: 123,
} as const;

/** How often connections are pinged. */
export const pingEveryMs = 30_000;

/** The status code of RFC 6455 for a server that stops. Clients connect again. */
const goingAway = 1001;

const normalClosure = 1000;

interface WebSocketDeps extends OperationDeps {
  /** The maximum number of concurrent operations of a connection. */
  readonly maxOperations: number;
  /** The origins of pages that may connect, in addition to those of the service's own host. */
  readonly origins: readonly string[];
  readonly log: Logger;
}

/** GraphQL over WebSocket at `/graphql`, in the protocol `graphql-transport-ws`. */
export interface GraphQLWebSockets extends WebSocketUpgrades {
  /** Closes each connection as soon as it has no operation, and rejects new ones. */
  readonly drain: () => void;
  readonly dispose: () => void;
}

/** Creates the WebSocket transport, which serves each operation of a connection like an HTTP request. */
export function createGraphQLWebSockets({ maxOperations, origins, log, ...deps }: WebSocketDeps): GraphQLWebSockets {
  const connections = new Set<Connection>();
  const reportError = (error: unknown) => log.error({ err: error }, 'internal error');
  let isDraining = false;

  const protocol = makeServer<Record<string, unknown>, Connection>({
    connectionInitWaitTimeout: limits.initMs,
    onConnect({ connectionParams, extra }) {
      const headers = withConnectionParams(extra.headers, connectionParams);
      if (headers) Object.assign(extra, { headers, isAcknowledged: true });
      else extra.socket.close(CloseCode.BadRequest, 'A value of connectionParams is not a header value.');
      return headers !== undefined;
    },
    async onSubscribe({ extra }, id) {
      const results = await openOperation(deps, extra, id, reportError);
      return { schema: servedSchema, document: subscription, contextValue: results };
    },
    subscribe: ({ contextValue }) => contextValue as OperationResults,
    onNext: (_context, _id, _payload, _args, result) => result as object,
  });

  function open(socket: WebSocket, request: IncomingMessage, stream: Duplex, admit: Admit): void {
    const connection: Connection = {
      socket,
      socketAddress: request.socket.remoteAddress ?? 'unknown',
      admit,
      headers: headersOfHandshake(request),
      operations: new Set(),
      maxOperations,
      payloads: new Map(),
      // Runs after graphql-ws has sent the message that completes the operation.
      onOperationEnd: () => isDraining && setImmediate(() => closeIfIdle(connection)),
      admission: Promise.resolve(),
      isAcknowledged: false,
      isAlive: true,
      isUsed: true,
    };
    connections.add(connection);
    const close = (code: number, reason: string) =>
      // graphql-ws quotes ids of any length.
      socket.close(code, Buffer.byteLength(reason) > limits.reasonBytes ? CloseCode[code] : reason);
    const receive = (data: Buffer, respond: (text: string) => Promise<void>) => {
      connection.isAlive = true;
      try {
        const { type, text } = readMessage(connection, data);
        const isUnlimited = type !== 'subscribe' && type !== 'complete';
        const isRejected = type === 'subscribe' && connection.operations.size >= maxOperations;
        const responded = respond(text).catch((error: unknown) => {
          if (socket.readyState !== socket.OPEN) return;
          reportError(error);
          close(CloseCode.InternalServerError, 'Internal error.');
        });
        // The number of operations limits the responses that an unread socket holds; others are sent one at a time. The next
        // message waits until an operation is admitted, so that a connection does not fill the queue.
        return isUnlimited || isRejected ? responded : connection.admission.then(() => undefined);
      } catch (error) {
        return void close(CloseCode.BadRequest, error instanceof AppError ? error.message : 'Bad request.');
      }
    };
    const closed = protocol.opened(
      {
        protocol: socket.protocol,
        send: (text) => send(socket, text),
        close,
        onMessage: (respond) =>
          readMessages(socket, stream, {
            admit,
            isAcknowledged: () => connection.isAcknowledged,
            handle: (data) => receive(data, respond),
          }),
      },
      connection,
    );
    socket.on('pong', () => {
      connection.isAlive = true;
    });
    // The socket closes itself after an invalid frame or a broken connection.
    socket.on('error', () => undefined);
    socket.on('close', (code, reason) => {
      connections.delete(connection);
      for (const cancel of connection.operations) cancel.abort();
      closed(code, reason.toString('utf8')).catch(reportError);
    });
    if (isDraining) closeIfIdle(connection);
  }

  const pings = setInterval(() => {
    for (const connection of connections) {
      const { socket, operations, isAlive, isUsed } = connection;
      if (!isAlive) socket.terminate();
      else if (!isUsed && operations.size === 0) socket.close(normalClosure, 'The connection was not used.');
      else socket.ping();
      connection.isAlive = false;
      connection.isUsed = false;
    }
  }, pingEveryMs).unref();

  return {
    accepts: ({ method, url = '', headers }) =>
      method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && url.split('?', 1)[0] === '/graphql',
    open(request, socket, head, admit) {
      const rejection = isDraining ? stopping : rejectionOf(request, origins);
      if (rejection) return rejectConnection(socket, rejection);
      handshakes.handleUpgrade(request, socket, head, (opened) => open(opened, request, socket, admit));
    },
    drain() {
      isDraining = true;
      connections.forEach(closeIfIdle);
    },
    dispose() {
      clearInterval(pings);
      for (const { socket } of connections) socket.terminate();
    },
  };
}

const handshakeOptions = {
  noServer: true,
  clientTracking: false,
  // At most one frame of each socket in an iteration of the event loop.
  allowSynchronousEvents: false,
  maxPayload: limits.messageBytes,
  maxFragments: limits.fragments,
  handleProtocols,
  closeTimeout: limits.closeMs,
};
const handshakes = new WebSocketServer(handshakeOptions);
handshakes.on('wsClientError', (error, socket) => rejectConnection(socket, { status: 400, message: error.message }));

/** graphql-ws reads only the operation type of a document: as a subscription, every operation returns a stream. */
const subscription = parse('subscription { __typename }');

function rejectionOf(request: IncomingMessage, origins: readonly string[]): Rejection | undefined {
  if (!isAllowedOrigin(request, origins)) return foreignOrigin;
  return request.url === '/graphql' ? undefined : unknownParameter;
}

const stopping: Rejection = { status: 503, code: 'UNAVAILABLE', message: 'The service is stopping.' };
const foreignOrigin: Rejection = {
  status: 403,
  code: 'FORBIDDEN',
  message: 'Pages of this origin cannot open a WebSocket. KEYFRONT_CORS_ORIGINS lists the allowed origins.',
};

/** Resolves when the operating system has accepted the text, so that results are read at the speed of the client. */
function send(socket: WebSocket, text: string): Promise<void> {
  if (socket.bufferedAmount > limits.bufferedBytes) socket.terminate();
  return new Promise((resolve) => socket.send(text, () => resolve()));
}

/** As for every GET request of the API. A credential in a URL would be in the logs of proxies. */
const unknownParameter: Rejection = {
  status: 400,
  message:
    'The handshake of a WebSocket has no parameters in its URL. Send the credential in a header or in connectionParams.',
};

function closeIfIdle({ socket, operations }: Connection): void {
  if (operations.size === 0) socket.close(goingAway, 'The service is stopping.');
}
