// A WebSocket that sends any frame, and does not read unless its stream is resumed.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';

/** Opcodes of RFC 6455 (5.2). */
export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 };

/**
 * Returns a masked frame.
 *
 * @param {string | Buffer} payload
 * @param {{ opcode?: number, isLast?: boolean }} [options]
 */
export function frameOf(payload, { opcode = opcodes.text, isLast = true } = {}) {
  const data = Buffer.from(payload);
  const mask = randomBytes(4);
  const head = Buffer.alloc(data.length < 126 ? 2 : data.length < 65_536 ? 4 : 10);
  head[0] = (isLast ? 0x80 : 0) | opcode;
  if (data.length < 126) head[1] = 0x80 | data.length;
  else if (data.length < 65_536) head.writeUInt16BE(data.length, 2);
  else head.writeBigUInt64BE(BigInt(data.length), 2);
  if (data.length >= 126) head[1] = 0x80 | (data.length < 65_536 ? 126 : 127);
  return Buffer.concat([head, mask, data.map((byte, index) => byte ^ (mask[index % 4] ?? 0))]);
}

/** Returns a frame with a message of the protocol graphql-transport-ws. */
export const messageOf = (/** @type {object} */ message) => frameOf(JSON.stringify(message));

export const initFrame = messageOf({ type: 'connection_init' });

/**
 * Opens a WebSocket without a library. Its stream is paused after the handshake, and after the acknowledgement if
 * `isInitialized`. It ignores errors, because servers reset connections.
 *
 * @param {string} origin such as `http://127.0.0.1:4000`
 * @param {{ isInitialized?: boolean, headers?: Record<string, string> }} [options]
 */
export async function openRawWebSocket(origin, { isInitialized = false, headers = {} } = {}) {
  const { hostname, port, host } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  const lines = Object.entries({
    host,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
    'sec-websocket-protocol': 'graphql-transport-ws',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET /graphql HTTP/1.1\r\n${lines.join('')}\r\n`);
  await readUntil(socket, '\r\n\r\n');
  if (isInitialized) {
    socket.write(initFrame);
    await readUntil(socket, 'connection_ack"}');
  }
  return socket;
}

/** Reads until a text has arrived or the connection is closed, and then pauses. */
async function readUntil(/** @type {import('node:net').Socket} */ socket, /** @type {string} */ text) {
  let received = '';
  for (;;) {
    const chunk = /** @type {Buffer | null} */ (socket.read());
    if (chunk !== null) received += chunk.toString('latin1');
    if (received.includes(text) || socket.destroyed || socket.readableEnded) return;
    if (chunk === null) await Promise.race(['readable', 'end', 'close'].map((event) => once(socket, event)));
  }
}
