import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { defaultHeaders } from '../respond.js';
import { sendResponse } from '../response.js';
import { listenAt, type ListenAddress } from './listen-at.js';
import { rejectRequest } from './rejection.js';
import { validateRequest } from './request-guard.js';
import { keepAllHeaderLines } from './server.js';
import { surviveErrors } from './connection-errors.js';

/** The metrics in the text format of Prometheus. */
export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}

interface MetricsServerOptions extends ListenAddress {
  readonly read: () => Promise<Exposition>;
}

/** The running listener for Prometheus. */
export interface MetricsServer {
  /** The URL of the metrics, such as `http://127.0.0.1:9464/metrics`. */
  readonly url: string;
  stop(): Promise<void>;
}

const metricsAddressSettings = { host: 'KEYFRONT_METRICS_HOST', port: 'KEYFRONT_METRICS_PORT' };
/** The maximum duration of a request, and of the time between two requests. */
const timeoutMs = 5_000;
const maxConnections = 32;

/**
 * Serves metrics at a separate address.
 *
 * @throws {Error} when the address cannot be used
 */
export async function listenForMetrics({ host, port, read }: MetricsServerOptions): Promise<MetricsServer> {
  const server = createServer({
    headersTimeout: timeoutMs,
    requestTimeout: timeoutMs,
    keepAliveTimeout: timeoutMs,
    // Node's default of 30 seconds would be the shortest timeout.
    connectionsCheckingInterval: 1_000,
  });
  keepAllHeaderLines(server);
  const use = limitConnections(server);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    use(request, response);
    const rejection = validateRequest(request);
    if (rejection) return rejectRequest(response, rejection);
    if (request.url?.split('?', 1)[0] !== '/metrics') {
      return rejectRequest(response, { status: 404, message: 'The metrics are at /metrics.', code: 'NOT_FOUND' });
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const message = 'The method is not allowed. The path supports GET, HEAD.';
      return rejectRequest(response, { status: 405, message, headers: { allow: 'GET, HEAD' } });
    }
    read().then(
      ({ contentType, text }) =>
        sendResponse(response, {
          status: 200,
          headers: { ...defaultHeaders, 'content-type': contentType },
          body: text,
        }),
      () => rejectRequest(response, { status: 500, message: 'Internal error.', code: 'INTERNAL' }),
    );
  });
  const address = await listenAt(server, { host, port }, metricsAddressSettings);
  return {
    url: `http://${address}/metrics`,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Closes the connection that has been unused for longest when there are too many, so that clients which open connections
 * and send nothing cannot keep Prometheus out. Connections with a response in progress are the last to be closed.
 *
 * @returns a function that marks a connection as used by a request
 */
function limitConnections(server: Server): (request: IncomingMessage, response: ServerResponse) => void {
  // Both in the order of their last use.
  const idle = new Set<Socket>();
  const responding = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    surviveErrors(socket);
    const [unused] = [...idle, ...responding];
    if (idle.size + responding.size >= maxConnections) unused?.destroy();
    idle.add(socket);
    socket.once('close', () => {
      idle.delete(socket);
      responding.delete(socket);
    });
  });
  return ({ socket }, response) => {
    idle.delete(socket);
    responding.add(socket);
    response.once('close', () => {
      if (responding.delete(socket)) idle.add(socket);
    });
  };
}
