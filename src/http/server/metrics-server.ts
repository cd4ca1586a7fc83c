import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenAt } from './listen-at.js';
import { flawOf } from './request-guard.js';
import { refuse } from '../refusal.js';
import { defaultHeaders } from '../default-headers.js';
import { keepAllHeaderLines } from './server.js';

/** Metrics as text, and what kind of text it is. */
export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}

interface Options {
  readonly host: string;
  readonly port: number;
  readonly read: () => Promise<Exposition>;
}

export interface MetricsServer {
  /** Where they are read, such as `http://127.0.0.1:9464/metrics`. */
  readonly url: string;
  stop(): Promise<void>;
}

const metricsAddressSettings = { host: 'KEYFRONT_METRICS_HOST', port: 'KEYFRONT_METRICS_PORT' };

/** Listens for those who collect metrics, apart from everybody else. Rejects where the address is taken or not ours. */
export async function listenForMetrics({ host, port, read }: Options): Promise<MetricsServer> {
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 5_000, keepAliveTimeout: 5_000 });
  server.maxConnections = 32;
  keepAllHeaderLines(server);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const flaw = flawOf(request);
    if (flaw) return refuse(response, flaw);
    if (request.url?.split('?', 1)[0] !== '/metrics') {
      return refuse(response, { status: 404, message: 'Metrics are at /metrics.', code: 'NOT_FOUND' });
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const headers = { allow: 'GET, HEAD' };
      return refuse(response, { status: 405, message: 'This path takes GET, HEAD only.', headers });
    }
    read().then(
      ({ contentType, text }) => {
        const headers = { 'content-type': contentType, 'content-length': Buffer.byteLength(text) };
        response.writeHead(200, { ...defaultHeaders, ...headers }).end(text);
      },
      () => refuse(response, { status: 500, message: 'Internal error.', code: 'INTERNAL' }),
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
