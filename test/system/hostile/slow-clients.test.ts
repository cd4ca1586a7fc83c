import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenForMetrics } from '../../../src/http/server/metrics-server.js';
import type { ServerTimeouts } from '../../../src/http/server/server.js';
import { startOwnServer, startServer, type TestServer } from '../../support/server.js';

/* SLOW_SOCKETS=1000 is the full run, for which the shell must allow as many files (`ulimit -n`). */
const sockets = Number(process.env['SLOW_SOCKETS'] ?? 200);

// Shorter than those of the service, and long enough for good requests on a busy machine.
const timeouts: ServerTimeouts = { headersMs: 2_000, requestMs: 3_000, responseMs: 8_000, idleMs: 1_500 };

let s: TestServer;
beforeAll(async () => {
  s = await startServer({}, { timeouts });
  await s.t.importKeys({ key_id: 'k1', org_id: 'acme' });
});
afterAll(async () => s.close());

interface Slow {
  readonly socket: Socket;
  /** The time until the server closed the connection, and the bytes that it sent. */
  readonly cut: Promise<{ ms: number; text: string }>;
}

/** Opens a connection that sends `begin` at once and `drip` every so often. */
function slow(begin: string, drip: string, port = s.port): Slow {
  const began = performance.now();
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  if (begin !== '') socket.write(begin);
  const dripping = drip === '' ? undefined : setInterval(() => socket.write(drip), 150);
  const cut = new Promise<{ ms: number; text: string }>((resolve) => {
    socket.on('close', () => {
      clearInterval(dripping);
      resolve({ ms: performance.now() - began, text });
    });
  });
  return { socket, cut };
}

/** Sends previews one after the other until stopped, and returns the duration of each. */
function goodClient(): () => Promise<number[]> {
  let isOver = false;
  const times: number[] = [];
  const running = (async () => {
    while (!isOver) {
      const began = performance.now();
      const response = await fetch(`${s.url}/api/keys/preview`, {
        method: 'POST',
        // A kept connection could become idle for too long between two requests of a busy machine.
        headers: { authorization: `Bearer ${s.t.management}`, 'content-type': 'application/json', connection: 'close' },
        body: '{}',
      });
      await response.text();
      expect(response.status).toBe(200);
      times.push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return async () => {
    isOver = true;
    await running;
    return times;
  };
}

function figures(times: number[]): object {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(10 * (sorted[Math.floor((sorted.length - 1) * share)] ?? 0)) / 10;
  return { requests: times.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** The number of open TCP sockets. Both ends of each connection are in this process. */
const connectionEnds = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;

const host = 'Host: x\r\n';
const body = () => `${host}Authorization: Bearer ${s.t.management}\r\nContent-Type: application/json\r\n`;
const updateHead = (service: string) =>
  `PUT /svc/org/keys/k1 HTTP/1.1\r\n${host}X-Svc-Authorization: ${service}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n`;

describe(`${sockets} slow connections`, () => {
  it.each<[string, () => Slow, number, RegExp]>([
    ['send nothing at all', () => slow('', ''), timeouts.headersMs, /^(HTTP\/1\.1 408 [^]*)?$/],
    [
      'send their headers a few bytes at a time',
      () => slow(`GET /health HTTP/1.1\r\n${host}`, 'X: y\r\n'),
      timeouts.headersMs,
      /^HTTP\/1\.1 408 [^]*nosniff/,
    ],
    [
      'send one endless header',
      () => slow(`GET /health HTTP/1.1\r\n${host}X: `, 'y'),
      timeouts.headersMs,
      /^HTTP\/1\.1 408 [^]*nosniff/,
    ],
    [
      'send their body a byte at a time',
      () => slow(`POST /api/keys/preview HTTP/1.1\r\n${body()}Content-Length: 1000\r\n\r\n`, ' '),
      timeouts.requestMs,
      /^HTTP\/1\.1 408 [^]*nosniff/,
    ],
    [
      'send their chunks a byte at a time',
      () => slow(`POST /graphql HTTP/1.1\r\n${body()}Transfer-Encoding: chunked\r\n\r\n`, '1\r\n \r\n'),
      timeouts.requestMs,
      /^HTTP\/1\.1 408 [^]*nosniff/,
    ],
    [
      'send one request and then keep the connection',
      () => slow(`GET /health HTTP/1.1\r\n${host}\r\n`, ''),
      timeouts.idleMs,
      /^HTTP\/1\.1 200 /,
    ],
    [
      'send one request and never finish the next one',
      () => slow(`GET /health HTTP/1.1\r\n${host}\r\nGET /hea`, 'l'),
      timeouts.headersMs,
      /^HTTP\/1\.1 200 [^]*HTTP\/1\.1 408 /,
    ],
  ])(
    'T-02 that %s are closed in time, while normal requests are served',
    { timeout: 240_000 },
    async (what, open, limitMs, output) => {
      const alone = goodClient();
      await new Promise((resolve) => setTimeout(resolve, 300));
      const without = figures(await alone());
      const stop = goodClient();
      const opened = Array.from({ length: sockets }, open);
      const ends = await Promise.all(opened.map(({ cut }) => cut));
      const times = await stop();
      const latest = Math.max(...ends.map(({ ms }) => ms));
      console.log(
        `slow clients that ${what}: cut within ${Math.round(latest)} ms; good requests ${JSON.stringify({ without, with: figures(times) })}`,
      );
      for (const { text } of ends) expect(text).toMatch(output);
      // A connection that is not cut stays; how late it is cut depends on the load of this machine.
      expect(latest).toBeLessThan(limitMs + 60_000);
      expect(times.length).toBeGreaterThan(0);
    },
  );

  it('T-02 that send nothing or slow headers to the metrics port are closed after five seconds', async () => {
    const read = () => Promise.resolve({ contentType: 'text/plain', text: '' });
    const metrics = await listenForMetrics({ host: '127.0.0.1', port: 0, read });
    const port = Number(new URL(metrics.url).port);
    const opened = [slow('', '', port), slow(`GET /metrics HTTP/1.1\r\n${host}`, 'X: y\r\n', port)];
    for (const { ms } of await Promise.all(opened.map(({ cut }) => cut))) {
      expect(ms).toBeGreaterThan(4_000);
      // Node itself looks for such connections every 30 seconds.
      expect(ms).toBeLessThan(20_000);
    }
    await metrics.stop();
  });

  // Ten, because GraphiQL's program has megabytes: the buffers between the two would hold a small response.
  it('T-02 that never read their response are closed in time (ten of them)', async () => {
    const page = Buffer.byteLength((await s.t.send('/graphiql/graphiql.js')).text);
    const opened = Array.from({ length: 10 }, () => {
      const socket = connect(s.port, '127.0.0.1').pause();
      socket.on('error', () => undefined);
      socket.write(`GET /graphiql/graphiql.js HTTP/1.1\r\n${host}\r\n`.repeat(2));
      const begun = new Promise((resolve) => socket.once('readable', resolve));
      return { socket, begun, closed: new Promise((resolve) => socket.once('close', resolve)) };
    });
    for (const { begun } of opened) await begun;
    // A client that does not read keeps its own end.
    await expect.poll(connectionEnds).toBe(opened.length);
    for (const { socket, closed } of opened) {
      let received = 0;
      socket.on('data', (chunk: Buffer) => (received += chunk.length));
      socket.resume();
      await closed;
      expect(received).toBeLessThan(2 * page);
    }
  });

  it('that end their side after the request get a complete response or none, and are closed', async () => {
    // With the timeouts of the service: on a busy machine the last of them are served after more than a second.
    const { port, t } = await startOwnServer();
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    const responses = Array.from({ length: sockets }, async () => {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      socket.end(`${updateHead(t.service)}{}`);
      let text = '';
      for await (const chunk of socket) text += (chunk as Buffer).toString();
      return text;
    });
    // Node ends the connection when the client ends its side: a response that is not written by then is lost.
    for (const text of await Promise.all(responses)) expect(text).toMatch(/^(HTTP\/1\.1 200 [^]*\r\n\r\n\{[^]*\})?$/);
    await expect.poll(connectionEnds).toBe(0);
    expect(t.logs()).not.toContain('internal error');
  });

  it('that close during their request or before its response leave nothing behind', async () => {
    const hung = Array.from({ length: sockets }, async (_, number) => {
      const socket = connect(s.port, '127.0.0.1');
      socket.on('error', () => undefined);
      await new Promise((resolve) => socket.once('connect', resolve));
      const update = updateHead(s.t.service);
      socket.write(number % 2 === 0 ? `${update}{` : `${update}{}`);
      if (number % 3 === 0) socket.resetAndDestroy();
      else socket.destroy();
    });
    await Promise.all(hung);
    // Accepted after all of them.
    const ready = await fetch(`${s.url}/ready`, { headers: { connection: 'close' } });
    expect([ready.status, await ready.text()]).toEqual([200, 'ready\n']);
    await expect.poll(connectionEnds).toBe(0);
    expect(s.t.logs()).not.toContain('internal error');
  });
});
