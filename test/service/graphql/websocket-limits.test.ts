import { once } from 'node:events';
import { request as sendRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { GraphQLWebSockets } from '../../../src/graphql/websocket/websocket-server.js';
import { listen } from '../../../src/http/server/server.js';
import { createScheduler, type Admit } from '../../../src/lib/scheduler.js';
import { createLogger } from '../../../src/lib/log.js';
import { startOwnApp } from '../../support/app.js';
import { followQuery } from '../../support/event-stream.js';
import { frameOf, messageOf, opcodes, openRawWebSocket } from '../../support/raw-websocket.mjs';
import { startOwnServer, startServer, type TestServer } from '../../support/server.js';
import { eventLoopTurns, until } from '../../support/until.js';
import { closedWith, codesIn, connectSocket, openSocket, type TestSocket } from '../../support/websocket.js';

let s: TestServer;
beforeAll(async () => {
  s = await startServer();
});
afterAll(async () => s.close());

const closing = <T extends { readonly socket: { terminate: () => void } }>(opened: T): T => {
  onTestFinished(() => opened.socket.terminate());
  return opened;
};
const opened = async (): Promise<TestSocket> => closing(await openSocket(s.url));
const connected = async (): Promise<TestSocket> =>
  closing(await connectSocket(s.url, { 'x-svc-authorization': s.t.service }));
const rawSocket = async (...options: Parameters<typeof openRawWebSocket>): Promise<Socket> => {
  const socket = await openRawWebSocket(...options);
  onTestFinished(() => void socket.destroy());
  return socket;
};

/** The code in the close frame that a raw socket receives. */
async function closeCodeOf(socket: Socket): Promise<number> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  const received = Buffer.concat(chunks);
  // The frame of a server has no mask: its opcode, its length, and the code.
  const at = received.lastIndexOf(0x88);
  return received.readUInt16BE(at + 2);
}

/** A server whose WebSockets wait for their turn before each message: `waiting` has what starts them, or rejects them. */
async function startWaiting() {
  const waiting: { readonly start: () => void; readonly reject: () => void }[] = [];
  const t = await startOwnApp({ KEYFRONT_MAX_SUBSCRIPTIONS: '2' });
  const { webSockets } = t.app;
  const admit: Admit = (start, reject) => void waiting.push({ start, reject });
  const open: typeof webSockets.open = (request, stream, head) => webSockets.open(request, stream, head, admit);
  const { streams, server } = await observed(t.app.handle, { ...webSockets, open });
  return { url: server.url, streams, waiting };
}

/** A server, and the server's side of its WebSocket connections. */
async function observed(handle: Parameters<typeof listen>[0], webSockets: GraphQLWebSockets) {
  const streams: Duplex[] = [];
  const server = await listen(handle, {
    host: '127.0.0.1',
    port: 0,
    log: createLogger('silent'),
    scheduler: createScheduler(),
    webSockets: {
      ...webSockets,
      open: (request, stream, ...rest) => {
        streams.push(stream);
        webSockets.open(request, stream, ...rest);
      },
    },
  });
  // A stop waits eight seconds for connections that are not read or whose client stays.
  onTestFinished(async () => {
    for (const stream of streams) stream.destroy();
    await server.stop();
  });
  return { server, streams };
}

describe('a WebSocket connection that is not acknowledged', () => {
  it('is closed with 4400 after more than three messages', async () => {
    const allowed = await opened();
    for (const type of ['ping', 'pong', 'connection_init']) allowed.send({ type });
    expect([await allowed.next(), await allowed.next()]).toEqual([{ type: 'pong' }, { type: 'connection_ack' }]);
    const rejected = await opened();
    for (const type of ['pong', 'pong', 'pong', 'pong']) rejected.send({ type });
    expect(await rejected.next()).toEqual(closedWith(4400));
  });

  it('is closed with 4400 after more than 8 KiB, also within a message that is not complete', async () => {
    const allowed = await opened();
    allowed.send({ type: 'connection_init', payload: { unknown: 'x'.repeat(8_000) } });
    expect(await allowed.next()).toEqual({ type: 'connection_ack' });
    const whole = await rawSocket(s.url);
    whole.write(messageOf({ type: 'connection_init', payload: { unknown: 'x'.repeat(8_192) } }));
    expect(await closeCodeOf(whole)).toBe(4400);
    const part = await rawSocket(s.url);
    part.write(frameOf('x'.repeat(100_000)).subarray(0, 9_000));
    expect(await closeCodeOf(part)).toBe(4400);
  });

  it('is closed with 4401 for an operation, and with 4408 when it is not initialized in time', async () => {
    const [early, silent] = [await opened(), await opened()];
    expect(await early.request('{ __typename }')).toEqual(closedWith(4401));
    expect(await silent.next()).toEqual(closedWith(4408));
  });
});

describe('an acknowledged WebSocket connection', () => {
  const id = '1';
  const error = { message: 'x' };
  it.each([
    ['connection_ack', 4400, { type: 'connection_ack' }],
    ['next', 4400, { id, type: 'next', payload: { data: null } }],
    ['error', 4400, { id, type: 'error', payload: [error] }],
    ['an unknown type', 4400, { type: 'start' }],
    ['no type', 4400, {}],
    ['a type of Object.prototype', 4400, { type: 'constructor' }],
    ['a list', 4400, []],
    ['a subscription without an id', 4400, { type: 'subscribe', payload: { query: '{ __typename }' } }],
    ['a subscription without a payload', 4400, { id, type: 'subscribe' }],
    ['a completion without an id', 4400, { type: 'complete' }],
    ['a second initialization', 4429, { type: 'connection_init' }],
    ['a ping of more than 8 KiB', 4400, { type: 'ping', payload: { text: 'x'.repeat(8_192) } }],
    ['a completion of more than 8 KiB', 4400, { id: 'x'.repeat(8_192), type: 'complete' }],
  ])('is closed for %s with %i, and no error is logged', async (_, code, message) => {
    const socket = await connected();
    socket.send(message);
    expect(await socket.next()).toEqual(closedWith(code));
    expect(s.t.logLines('"level":50')).toEqual([]);
  });

  it('is closed for the id of an active operation with 4409, also when the id is long', async () => {
    for (const long of ['1', 'x'.repeat(200)]) {
      const socket = await connected();
      await socket.request(followQuery, {}, long);
      socket.send({ id: long, type: 'subscribe', payload: { query: '{ __typename }' } });
      expect(await socket.nextOf('closed')).toEqual(closedWith(4409));
    }
    expect(s.t.logLines('"level":50')).toEqual([]);
  });

  it('is closed for a message in more than 256 frames with 1008, and accepts one in fewer', async () => {
    const socket = await rawSocket(s.url, { isInitialized: true });
    const letters = [...'{"type":"ping"}'];
    const frames = letters.map((letter, index) =>
      frameOf(letter, {
        opcode: index === 0 ? opcodes.text : opcodes.continuation,
        isLast: index === letters.length - 1,
      }),
    );
    socket.write(Buffer.concat(frames));
    socket.resume();
    const [pong] = (await once(socket, 'data')) as [Buffer];
    expect(pong.toString('latin1')).toContain('{"type":"pong"}');
    const empty = frameOf('', { opcode: opcodes.continuation, isLast: false });
    socket.write(Buffer.concat([frameOf('{', { isLast: false }), ...Array<Buffer>(256).fill(empty)]));
    expect(await closeCodeOf(socket)).toBe(1008);
  });

  it('is read one message at a time, and not while a message waits for its turn', async () => {
    const { url, waiting, streams } = await startWaiting();
    const socket = await rawSocket(url);
    socket.write(messageOf({ type: 'connection_init' }));
    await until(() => waiting.length === 1, 'The first message');
    waiting.shift()?.start();
    socket.resume();
    await once(socket, 'data');
    const [stream] = streams as [Socket];
    const before = stream.bytesRead;
    const chunk = Buffer.concat(Array<Buffer>(10_000).fill(messageOf({ type: 'ping' })));
    for (let written = 0; written < 16 * 1024 * 1024; written += chunk.length) socket.write(chunk);
    await until(() => stream.isPaused(), 'The pause');
    await eventLoopTurns();
    expect(waiting).toHaveLength(1);
    expect(stream.bytesRead - before).toBeLessThan(512 * 1024);
    waiting.shift()?.start();
    await until(() => waiting.length === 1, 'The second message');
  });

  it('is read again after a moment in which the service was too busy', async () => {
    const { url, waiting } = await startWaiting();
    const socket = await openSocket(url);
    socket.send({ type: 'connection_init' });
    await until(() => waiting.length === 1, 'The first turn');
    waiting.shift()?.reject();
    await until(() => waiting.length === 1, 'The second turn');
    waiting.shift()?.start();
    expect(await socket.next()).toEqual({ type: 'connection_ack' });
  });

  it('has one place in the queue, however many operations it sends', async () => {
    const { url, waiting } = await startWaiting();
    const socket = await openSocket(url);
    socket.send({ type: 'connection_init' });
    await until(() => waiting.length === 1, 'The first turn');
    waiting.shift()?.start();
    expect(await socket.next()).toEqual({ type: 'connection_ack' });
    for (const id of ['1', '2', '3']) socket.send({ id, type: 'subscribe', payload: { query: '{ __typename }' } });
    // The first message and then its operation, for which the second message waits.
    for (const turn of ['message', 'operation']) {
      await until(() => waiting.length === 1, turn);
      await eventLoopTurns();
      expect(waiting).toHaveLength(1);
      waiting.shift()?.start();
    }
    await until(() => waiting.length === 1, 'The next message');
  });

  it('holds one response to a client that does not read', async () => {
    const { t } = s;
    const { server, streams } = await observed(t.app.handle, t.app.webSockets);
    const socket = await rawSocket(server.url, { isInitialized: true });
    const [stream] = streams as [Duplex];
    const text = 'x'.repeat(8_000);
    const chunk = Buffer.concat(Array<Buffer>(100).fill(messageOf({ type: 'ping', payload: { text } })));
    for (let written = 0; written < 64 * 1024 * 1024; written += chunk.length) socket.write(chunk);
    // More than one could be held if the operating system accepted it later; it does not without a reader.
    await until(() => stream.writableLength > 0 && stream.isPaused(), 'The full socket');
    await eventLoopTurns();
    expect(stream.writableLength).toBeLessThan(2 * 8_192);
    expect(stream.destroyed).toBe(false);
  });

  it('holds one rejection of an operation beyond the maximum', async () => {
    const own = await startOwnServer({ KEYFRONT_MAX_SUBSCRIPTIONS: '1' });
    const { server, streams } = await observed(own.t.app.handle, own.t.app.webSockets);
    const headers = { 'x-svc-authorization': own.t.service };
    const socket = await rawSocket(server.url, { isInitialized: true, headers });
    const [stream] = streams as [Duplex];
    socket.write(messageOf({ id: 'kept', type: 'subscribe', payload: { query: followQuery } }));
    // The id is part of the response.
    const rejected = (number: number) =>
      messageOf({ id: `${number}${'x'.repeat(8_000)}`, type: 'subscribe', payload: { query: '{ __typename }' } });
    for (let number = 0; number < 2_000; number += 1) socket.write(rejected(number));
    await until(() => stream.writableLength > 0 && stream.isPaused(), 'The full socket');
    await eventLoopTurns();
    expect(stream.writableLength).toBeLessThan(4 * 8_192);
  });
});

it('a client of graphql-ws can start and end 300 subscriptions at once', async () => {
  const own = await startOwnServer({ KEYFRONT_MAX_SUBSCRIPTIONS: '300' });
  const url = `${own.url.replace('http', 'ws')}/graphql`;
  const client = createClient({ url, connectionParams: { 'x-svc-authorization': own.t.service }, retryAttempts: 0 });
  onTestFinished(() => void client.dispose());
  let started = 0;
  const codes: unknown[] = [];
  const ends = Array.from({ length: 300 }, () =>
    client.subscribe(
      { query: followQuery },
      {
        next: (result) => {
          started += 1;
          codes.push(...codesIn({ type: 'next', payload: { errors: [], ...result } }));
        },
        error: (error) => codes.push(error),
        complete: () => undefined,
      },
    ),
  );
  await until(() => started === 300, 'The start of the subscriptions');
  for (const end of ends) end();
  await until(() => own.t.logLines('subscription ended').length === 300, 'The end of the subscriptions');
  expect(codes).toEqual([]);
});

it('a handshake with parameters in its URL is rejected, as every GET request to /graphql is', async () => {
  const handshake = (target: string) =>
    new Promise<[number | undefined, string]>((resolve, reject) => {
      const headers = {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
        'sec-websocket-protocol': 'graphql-transport-ws',
      };
      const sent = sendRequest(`${s.url}${target}`, { headers }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
        response.on('end', () => resolve([response.statusCode, text]));
      });
      sent.on('upgrade', (response, socket) => {
        socket.destroy();
        resolve([response.statusCode, '']);
      });
      sent.on('error', reject);
      sent.end();
    });
  expect(await handshake('/graphql')).toEqual([101, '']);
  const [status, text] = await handshake(`/graphql?access_token=${s.t.service}`);
  expect([status, JSON.parse(text)]).toMatchObject([400, { code: 'INVALID' }]);
  expect(text + s.t.logs()).not.toContain(s.t.service);
  const sameByGET = await s.t.graphqlByGET({ query: '{ __typename }', access_token: 'x' });
  expect([sameByGET.status, sameByGET.body]).toMatchObject([400, { errors: [{ extensions: { code: 'INVALID' } }] }]);
});
