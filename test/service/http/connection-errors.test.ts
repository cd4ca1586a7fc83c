import { once } from 'node:events';
import { connect, type AddressInfo, createServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as connectTLS } from 'node:tls';
import { expect, it, onTestFinished, vi } from 'vitest';
import { dispatchConnections } from '../../../src/http/server/connection-dispatcher.js';
import { rejectConnection } from '../../../src/http/server/rejection.js';
import { listen, serveConnections, type WebSocketUpgrades } from '../../../src/http/server/server.js';
import { createScheduler } from '../../../src/lib/scheduler.js';
import { createLogger } from '../../../src/lib/log.js';
import { startOwnApp } from '../../support/app.js';
import { certificate, writeTLSFiles } from '../../support/localhost-tls.js';

/* An error of a stream without a listener is thrown where it is emitted, here in the test. */
const reset = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

const handshake = (headers = '') =>
  `GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n${headers}\r\n`;

const log = createLogger('silent');

/** Sends bytes to a server, and resolves to both ends when the server has responded, or has received them. */
async function exchange(webSockets: WebSocketUpgrades, bytes: string, received?: Promise<unknown>): Promise<Socket> {
  const server = serveConnections((request) => void request.resume(), {
    log,
    scheduler: createScheduler(),
    webSockets,
  });
  const { promise: accepted, resolve } = Promise.withResolvers<Socket>();
  const acceptor = createServer((socket) => {
    server.accept(socket);
    resolve(socket);
  }).listen(0, '127.0.0.1');
  await once(acceptor, 'listening');
  const client = connect((acceptor.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  onTestFinished(async () => {
    client.destroy();
    acceptor.close();
    await server.stop();
  });
  client.write(bytes);
  await (received ?? once(client, 'data'));
  return accepted;
}

it('survives the reset of a CONNECT request', async () => {
  const { app } = await startOwnApp();
  const socket = await exchange(app.webSockets, 'CONNECT a:1 HTTP/1.1\r\n\r\n');
  expect(() => socket.emit('error', reset())).not.toThrow();
});

it('survives the reset of a handshake from a foreign origin', async () => {
  const { app } = await startOwnApp();
  const socket = await exchange(app.webSockets, handshake('Origin: https://evil.example\r\n'));
  expect(() => socket.emit('error', reset())).not.toThrow();
});

it('survives the reset of a handshake that is not taken over yet, such as while it waits', async () => {
  const { promise: opened, resolve: open } = Promise.withResolvers<unknown>();
  const socket = await exchange({ accepts: () => true, open }, handshake(), opened);
  expect(() => socket.emit('error', reset())).not.toThrow();
  expect(socket.destroyed).toBe(true);
});

it('survives the reset of such a handshake over TLS', async () => {
  const files = writeTLSFiles();
  onTestFinished(() => files.remove());
  const { promise: opened, resolve } = Promise.withResolvers<Duplex>();
  const webSockets: WebSocketUpgrades = { accepts: () => true, open: (_request, socket) => resolve(socket) };
  const server = await listen(() => undefined, {
    host: '127.0.0.1',
    port: 0,
    log,
    scheduler: createScheduler(),
    tls: files,
    webSockets,
  });
  const port = Number(new URL(server.url).port);
  const client = connectTLS({ port, host: '127.0.0.1', servername: 'localhost', ca: certificate });
  client.on('error', () => undefined).write(handshake());
  const socket = await opened;
  expect(() => socket.emit('error', reset())).not.toThrow();
  client.destroy();
  await server.stop();
});

it('survives the reset of a connection that waits for a worker', async () => {
  const { promise: dispatched, resolve: dispatch } = Promise.withResolvers<Socket>();
  const dispatcher = await dispatchConnections({ host: '127.0.0.1', port: 0 }, dispatch);
  const client = connect(Number(dispatcher.address.split(':')[1]), '127.0.0.1').on('error', () => undefined);
  const socket = await dispatched;
  expect(() => socket.emit('error', reset())).not.toThrow();
  client.destroy();
  await dispatcher.stop();
});

it('closes a rejected connection that never takes the response', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const socket = new Duplex({ read: () => undefined, write: () => undefined });
  rejectConnection(socket, { status: 405, message: 'No.' });
  expect(socket.destroyed).toBe(false);
  vi.advanceTimersByTime(2_000);
  expect(socket.destroyed).toBe(true);
});
