import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { frameOf, initFrame, messageOf, opcodes, openRawWebSocket } from '../../../support/raw-websocket.mjs';
import { until } from '../../../support/until.js';
import { connectSocket, type TestSocket } from '../../../support/websocket.js';
import { startAttackedService, type AttackedService } from './service.js';

/* FLOOD_SOCKETS=150 FLOOD_KIB=8192 is the full run. */
const sockets = Number(process.env['FLOOD_SOCKETS'] ?? 10);
const bytesOfSocket = Number(process.env['FLOOD_KIB'] ?? 256) * 1024;

let server: AttackedService;
let usedBytes: number;
beforeAll(async () => {
  server = await startAttackedService();
  // The first floods compile code and fill caches.
  for (const { frames } of floods) await flood(frames, { isInitialized: true, isRead: true });
  usedBytes = await memory();
});
afterAll(() => server.stop());

/** Resolves to the bytes of heap and buffers that the service holds after a garbage collection. */
async function memory(): Promise<number> {
  const { heapUsed, external } = await server.memory();
  return heapUsed + external;
}

const connect = () => connectSocket(server.url, { 'x-svc-authorization': server.credential });

/** A well-behaved client is served, on a connection that it has and on a new one. */
async function expectService(client: TestSocket): Promise<void> {
  for (const socket of [client, await connect()]) {
    expect(await socket.request('{ orgKeys { totalCount } }', {}, crypto.randomUUID())).toMatchObject({
      type: 'next',
      payload: { data: { orgKeys: { totalCount: expect.any(Number) as number } } },
    });
    if (socket !== client) socket.socket.terminate();
  }
  expect((await fetch(`${server.url}/health`, { headers: { connection: 'close' } })).status).toBe(200);
}

interface FloodOptions {
  readonly isInitialized: boolean;
  readonly isRead: boolean;
  readonly meanwhile?: () => Promise<void>;
}

/** Sends frames again and again on several sockets, until the service closes them or does not read more. */
async function flood(frames: (round: number) => Buffer, { isInitialized, isRead, meanwhile }: FloodOptions) {
  const opened = await Promise.all(
    Array.from({ length: sockets }, () => openRawWebSocket(server.url, { isInitialized })),
  );
  for (const socket of opened) {
    if (isRead) socket.resume();
    for (let round = 0, sent = 0; sent < bytesOfSocket; round += 1) {
      const chunk = frames(round);
      sent += chunk.length;
      socket.write(chunk);
    }
  }
  await meanwhile?.();
  await Promise.all(opened.map(hasEffect));
  for (const [index, socket] of opened.entries()) {
    if (index % 2 === 0) socket.resetAndDestroy();
    else socket.destroy();
  }
}

/** Resolves when the service has read all, has closed the connection, or reads no more because its client does not. */
async function hasEffect(socket: Socket): Promise<void> {
  const isOver = () => socket.destroyed || socket.readableEnded || socket.writableLength === 0;
  let written = -1;
  await until(async () => {
    if (isOver()) return true;
    const before = written;
    written = socket.bytesWritten - socket.writableLength;
    await new Promise((resolve) => setTimeout(resolve, 200));
    return before === written && socket.isPaused();
  }, 'The effect of the flood');
}

const id = '1';
const payload = { query: '{ __typename }' };
const subscription = { query: 'subscription { orgKeyChanged { cursor } }' };
const repeated = (frame: Buffer, times = 50) => {
  const chunk = Buffer.concat(Array<Buffer>(times).fill(frame));
  return () => chunk;
};
const split = (text: string) =>
  [...text].map((letter, index) =>
    frameOf(letter, {
      opcode: index === 0 ? opcodes.text : opcodes.continuation,
      isLast: index === text.length - 1,
    }),
  );

const floods: { name: string; frames: (round: number) => Buffer }[] = [
  { name: 'connection_init', frames: repeated(initFrame) },
  { name: 'ping', frames: repeated(messageOf({ type: 'ping' })) },
  {
    name: 'ping with a payload',
    frames: repeated(messageOf({ type: 'ping', payload: { text: 'x'.repeat(8_000) } }), 2),
  },
  { name: 'pong', frames: repeated(messageOf({ type: 'pong' })) },
  {
    name: 'subscribe',
    frames: (round) => messageOf({ id: `${round}`, type: 'subscribe', payload }),
  },
  { name: 'subscribe with one id', frames: repeated(messageOf({ id, type: 'subscribe', payload })) },
  {
    name: 'subscribe to changes',
    frames: (round) => messageOf({ id: `${round}`, type: 'subscribe', payload: subscription }),
  },
  {
    name: 'subscribe and complete',
    frames: (round) =>
      Buffer.concat([
        messageOf({ id: `${round}`, type: 'subscribe', payload }),
        messageOf({ id: `${round}`, type: 'complete' }),
      ]),
  },
  {
    name: 'subscribe with invalid payloads',
    frames: (round) => {
      const invalid = [{}, { query: 1 }, { query: '{' }, { query: null }, { documentId: 1 }, { query: 'x', a: 1 }];
      return messageOf({ id: `${round}`, type: 'subscribe', payload: invalid[round % invalid.length] ?? {} });
    },
  },
  { name: 'complete', frames: repeated(messageOf({ id, type: 'complete' })) },
  { name: 'connection_ack', frames: repeated(messageOf({ type: 'connection_ack' })) },
  { name: 'next', frames: repeated(messageOf({ id, type: 'next', payload: { data: null } })) },
  { name: 'error', frames: repeated(messageOf({ id, type: 'error', payload: [{ message: 'x' }] })) },
  { name: 'an unknown type', frames: repeated(messageOf({ type: 'start' })) },
  { name: 'a text that is not JSON', frames: repeated(frameOf('nonsense')) },
  { name: 'binary messages', frames: repeated(frameOf(Buffer.from([0xff, 0xfe, 0x00]), { opcode: opcodes.binary })) },
  { name: 'empty messages', frames: repeated(frameOf('')) },
  { name: 'oversized messages', frames: repeated(frameOf('x'.repeat(200_000)), 1) },
  {
    name: 'large operations',
    frames: repeated(
      messageOf({ id, type: 'subscribe', payload: { ...payload, variables: { text: 'x'.repeat(100_000) } } }),
      1,
    ),
  },
  { name: 'messages in many frames', frames: repeated(Buffer.concat(split('{"type":"ping"}'))) },
  { name: 'a message without an end', frames: repeated(frameOf('', { opcode: opcodes.continuation, isLast: false })) },
  { name: 'deep JSON', frames: repeated(frameOf('['.repeat(8_000)), 1) },
  { name: 'ping frames', frames: repeated(frameOf('x'.repeat(125), { opcode: opcodes.ping })) },
  { name: 'pong frames', frames: repeated(frameOf('x'.repeat(125), { opcode: opcodes.pong })) },
  { name: 'close frames', frames: repeated(frameOf(Buffer.from([0x03, 0xe8]), { opcode: opcodes.close })) },
  { name: 'an opcode that is not defined', frames: repeated(frameOf('', { opcode: 5 })) },
  { name: 'frames without a mask', frames: repeated(Buffer.from([0x81, 0x02, 0x7b, 0x7d])) },
];

/** The floods that have responses, which a client may leave unread. */
const responded = floods.filter(({ name }) => /^ping|^subscribe/.test(name));

async function expectServiceDuring(frames: (round: number) => Buffer, options: FloodOptions): Promise<void> {
  const client = await connect();
  await flood(frames, { ...options, meanwhile: () => expectService(client) });
  await expectService(client);
  client.socket.terminate();
  await server.expectSound();
}

describe(`a flood on ${sockets} WebSockets`, () => {
  it.each(floods)('of $name before the acknowledgement harms no other client', ({ frames }) =>
    expectServiceDuring(frames, { isInitialized: false, isRead: true }),
  );

  it.each(floods)('of $name after the acknowledgement harms no other client', ({ frames }) =>
    expectServiceDuring(frames, { isInitialized: true, isRead: true }),
  );

  it.each(responded)('of $name from clients that do not read harms no other client', ({ frames }) =>
    expectServiceDuring(frames, { isInitialized: true, isRead: false }),
  );
});

it('leaves no memory behind', async () => {
  // A connection that was closed by its client ends when the service writes to it or reads from it.
  await expect.poll(memory, { interval: 1_000 }).toBeLessThan(usedBytes * 1.2);
  await server.expectSound();
});
