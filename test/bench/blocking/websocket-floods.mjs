// Floods of WebSocket messages, by clients without a credential.
import { setTimeout } from 'node:timers/promises';
import { frameOf, messageOf, opcodes, openRawWebSocket } from '../../support/raw-websocket.mjs';

/**
 * @typedef {object} Flood
 * @property {string} name
 * @property {(origin: string, seconds: number, headers: Record<string, string>) => Promise<void>} flood with a service credential in `headers`
 */

const chunkBytes = 256 * 1024;
const filled = (/** @type {number} */ bytes) => ({ note: 'x'.repeat(bytes) });

/** @returns {Flood[]} */
export function webSocketFloods() {
  const ping = messageOf({ type: 'ping' });
  const large = messageOf({
    type: 'subscribe',
    id: '1',
    payload: { query: '{ __typename }', variables: filled(80_000) },
  });
  const values = `{"id":"1","type":"subscribe","payload":{"query":"{ __typename }","variables":{"v":[${'{},'.repeat(40_000)}{}]}}}`;
  const largePing = messageOf({ type: 'ping', payload: filled(107_000) });
  const empty = frameOf('', { opcode: opcodes.continuation, isLast: false });
  const parts = { first: frameOf('{', { isLast: false }), empty };
  const named = (/** @type {string} */ name, /** @type {number} */ sockets, /** @type {Buffer} */ frame, more = {}) =>
    [true, false].map((isInitialized) => ({
      name: `WebSocket: ${sockets} sockets with ${name}${isInitialized ? '' : ', before the acknowledgement'}`,
      flood: (/** @type {string} */ origin, /** @type {number} */ seconds) =>
        flood(origin, { seconds, sockets, frame, isInitialized, ...more }),
    }));
  return [
    ...named('pings', 10, ping),
    ...named('messages of 80 KB', 20, large),
    ...named('messages of 40,000 values', 20, frameOf(values)),
    ...named('four pings of 107 KB', 50, largePing, { times: 4 }),
    ...named('ping frames', 10, frameOf('', { opcode: opcodes.ping })),
    ...named('empty fragments', 10, parts.empty, { first: parts.first }),
  ];
}

/**
 * Sends frames on several sockets as fast as the service reads them. Opens a socket again when the service closes it.
 *
 * @param {string} origin
 * @param {{ seconds: number, sockets: number, frame: Buffer, isInitialized: boolean, times?: number, first?: Buffer }} options
 */
async function flood(origin, { seconds, sockets, frame, isInitialized, times = Infinity, first }) {
  const endMs = performance.now() + seconds * 1_000;
  const perWrite = Math.min(times, Math.max(1, Math.floor(chunkBytes / frame.length)));
  const chunk = Buffer.concat(Array(perWrite).fill(frame));
  await Promise.all(
    Array.from({ length: sockets }, async () => {
      while (performance.now() < endMs) {
        const socket = await openRawWebSocket(origin, { isInitialized });
        socket.resume();
        if (first) socket.write(first);
        for (let sent = 0; sent < times && !socket.destroyed && performance.now() < endMs; sent += perWrite) {
          if (socket.write(chunk)) continue;
          const drained = new Promise((resolve) => ['drain', 'close'].forEach((event) => socket.once(event, resolve)));
          await Promise.race([drained, setTimeout(Math.max(1, endMs - performance.now()))]);
        }
        if (times !== Infinity) await setTimeout(Math.min(100, Math.max(1, endMs - performance.now())));
        socket.destroy();
      }
    }),
  );
}
