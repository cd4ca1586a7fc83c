import { Agent, request } from 'node:http';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** `unreached`: ECONNREFUSED. `no response`: the connection broke, or the response timed out. */
export type Sent = Reply | 'unreached' | 'no response';

export interface Client {
  send(method: string, path: string, headers: Readonly<Record<string, string>>, body: string): Promise<Sent>;
  close(): void;
}

const timeoutMs = 15_000;

/** Creates a client with persistent connections, which never retries a request. */
export function createClient(port: number): Client {
  const agent = new Agent({ keepAlive: true });
  return {
    send: (method, path, headers, body) =>
      new Promise((resolve) => {
        const sending = request(
          {
            agent,
            host: '127.0.0.1',
            port,
            method,
            path,
            timeout: timeoutMs,
            headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
          },
          (response) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk: Buffer) => chunks.push(chunk));
            response.on('error', () => resolve('no response'));
            response.on('end', () => {
              const text = Buffer.concat(chunks).toString('utf8');
              resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
            });
          },
        );
        sending.on('timeout', () => sending.destroy());
        sending.on('error', (error: NodeJS.ErrnoException) => {
          resolve(error.code === 'ECONNREFUSED' ? 'unreached' : 'no response');
        });
        sending.end(body);
      }),
    close: () => agent.destroy(),
  };
}
