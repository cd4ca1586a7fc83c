import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { listenForMetrics, type Exposition } from '../../../src/http/server/metrics-server.js';

const exposition: Exposition = { contentType: 'text/plain', text: 'up 1\n' };
const maxConnections = 32;

async function startMetrics(read = () => Promise.resolve(exposition)) {
  const server = await listenForMetrics({ host: '127.0.0.1', port: 0, read });
  onTestFinished(() => server.stop());
  const port = Number(new URL(server.url).port);
  /** Opens a connection, and resolves when it has received a response if it sends a complete request. */
  const open = async (text: string, hasResponse = false) => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    socket.write(text);
    if (hasResponse) await once(socket, 'data');
    return { socket, closed: new Promise((resolve) => socket.resume().once('close', resolve)) };
  };
  const openAll = async (text: string, hasResponse = false) => {
    const opened: { readonly socket: Socket; readonly closed: Promise<unknown> }[] = [];
    for (let count = 0; count < maxConnections; count += 1) opened.push(await open(text, hasResponse));
    return opened;
  };
  const scrape = async () => (await fetch(server.url, { headers: { connection: 'close' } })).text();
  return { open, openAll, scrape };
}

const head = 'HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n';

it.each([
  ['send nothing', '', false],
  ['never complete their headers', 'GET /metrics HTTP/1.1\r\nX-Slow: ', false],
  ['keep their connections', head, true],
])('serves a scrape beside as many connections as there may be, which %s', async (_what, text, hasResponse) => {
  const { openAll, scrape } = await startMetrics();
  const [oldest] = await openAll(text, hasResponse);
  expect(await scrape()).toBe(exposition.text);
  await oldest?.closed;
});

it('closes the connection that was used least recently, and one with a response in progress last', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: allowed, resolve: allow } = Promise.withResolvers<void>();
  let reads = 0;
  const { open, openAll } = await startMetrics(async () => {
    reads += 1;
    begin();
    if (reads === 1) await allowed;
    return exposition;
  });
  const scraping = await open('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
  await begun;
  // One too many. The oldest connection is that of the scrape.
  const [second] = await openAll(head, true);
  await second?.closed;
  const received = once(scraping.socket, 'data');
  allow();
  expect(String(await received)).toContain(exposition.text);
});
