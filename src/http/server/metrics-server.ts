import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { defaultHeaders } from '../middlewares.js';
import { sendResponse } from '../response.js';
import { listenAt, type ListenAddress } from './listen-at.js';
import { rejectRequest } from './rejection.js';
import { validateRequest } from './request-guard.js';
import { keepAllHeaderLines } from './server.js';

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
const timeoutMs = 5_000;
const maxConnections = 32;

/**
 * Serves metrics at a separate address.
 *
 * @throws {Error} when the address cannot be used
 */
export async function listenForMetrics({ host, port, read }: MetricsServerOptions): Promise<MetricsServer> {
  const server = createServer({ headersTimeout: timeoutMs, requestTimeout: timeoutMs, keepAliveTimeout: timeoutMs });
  server.maxConnections = maxConnections;
  keepAllHeaderLines(server);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
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
