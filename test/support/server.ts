import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { listen, type ListenOptions } from '../../src/http/server/server.js';
import { createLogger } from '../../src/lib/log.js';
import { startApp, type TestApp } from './app.js';

export interface TestServer {
  readonly t: TestApp;
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

type AppArguments = Parameters<typeof startApp> extends [unknown?, ...infer Rest] ? Rest : never;

/** Starts the whole service with its HTTP server, on a free port of loopback. */
export async function startServer(
  env: Record<string, string> = {},
  options: Partial<ListenOptions> = {},
  ...overrides: AppArguments
): Promise<TestServer> {
  const t = await startApp(env, ...overrides);
  const log = createLogger('silent');
  const { handle, services, webSockets } = t.app;
  const { scheduler } = services;
  const server = await listen(handle, { host: '127.0.0.1', port: 0, log, scheduler, webSockets, ...options });
  return {
    t,
    port: Number(new URL(server.url).port),
    url: server.url,
    close: async () => {
      await server.stop();
      await t.close();
    },
  };
}

/** Starts a server, and stops it after the running test. */
export async function startOwnServer(...options: Parameters<typeof startServer>): Promise<TestServer> {
  const server = await startServer(...options);
  onTestFinished(() => server.close());
  return server;
}

/** A response as received. */
export interface WireResponse {
  /** 0 if the connection was closed without a response. */
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** All received bytes, including further responses. */
  readonly text: string;
  /** Whether the server has closed the connection. */
  readonly isClosed: boolean;
}

/**
 * Sends bytes, and resolves to the response when the server closes the connection.
 *
 * @param limitMs - milliseconds after which to close a connection that stays open
 */
export async function exchange(port: number, bytes: string | Buffer, limitMs = 100_000): Promise<WireResponse> {
  const socket = connect(port, '127.0.0.1');
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  const { text, isClosed } = await received(socket, limitMs);
  socket.destroy();
  return { ...parsed(text), text, isClosed };
}

/** Resolves to the bytes that a socket receives until the server closes it or the limit passes. */
export async function received(socket: Socket, limitMs = 100_000): Promise<{ text: string; isClosed: boolean }> {
  const chunks: Buffer[] = [];
  const isClosed = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), limitMs);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
  return { text: Buffer.concat(chunks).toString('latin1'), isClosed };
}

function parsed(text: string): Pick<WireResponse, 'status' | 'headers' | 'body'> {
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, Math.max(end, 0)).split('\r\n');
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const rest = text.slice(end + 4);
  const body = headers.get('transfer-encoding') === 'chunked' ? unchunked(rest) : rest;
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0), headers, body };
}

function unchunked(text: string): string {
  const [, size = '', rest = ''] = /^([\da-f]+)\r\n([^]*)$/i.exec(text) ?? [];
  const length = Number.parseInt(size, 16);
  return length > 0 ? rest.slice(0, length) + unchunked(rest.slice(length + 2)) : '';
}
