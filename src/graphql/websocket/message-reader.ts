import { setTimeout as wait } from 'node:timers/promises';
import type { Duplex } from 'node:stream';
import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { Admit } from '../../lib/scheduler.js';

/** What a client may send before its connection is acknowledged: `connection_init` with its credentials, and pings. */
const early = { bytes: 8 * 1024, messages: 3 } as const;

/** How fast one connection is read: a thousand messages a second and 2 MiB, and as many at once after a pause. */
const pace = { messageMs: 1, bytesPerMs: 2 * 1024, burstMs: 1_000 } as const;

/** How long a connection is not read after the service was too busy for its next message. */
const retryMs = 100;

interface MessageReaderDeps {
  readonly admit: Admit;
  readonly isAcknowledged: () => boolean;
  /** Handles a message. The next message waits for the promise, if any, which does not reject. */
  readonly handle: (data: Buffer) => Promise<void> | undefined;
}

/**
 * Reads the messages of a WebSocket one after the other, not faster than the pace. Each waits for its turn among the
 * requests, so that a connection has one place in the queue. Does not read from the socket while a message waits, so that
 * only what has already arrived is held: one chunk of 64 KiB.
 *
 * @param stream - the connection of the socket
 */
export function readMessages(socket: WebSocket, stream: Duplex, deps: MessageReaderDeps): void {
  const { admit, isAcknowledged, handle } = deps;
  /** Undefined for a ping or a pong of the WebSocket protocol, which ws handles, and which only count for the pace. */
  const waiting: (Buffer | undefined)[] = [];
  const waitMsFor = createPace();
  let isReading = false;
  let earlyBytes = 0;
  let earlyMessages = 0;

  const untilDone = <T>(work: Promise<T>): Promise<T> => {
    socket.pause();
    return work;
  };

  async function readWaiting(): Promise<void> {
    isReading = true;
    while (waiting.length > 0 && socket.readyState === socket.OPEN) {
      const data = waiting.shift();
      const waitMs = waitMsFor(data?.length ?? 0);
      if (waitMs > 0) await untilDone(wait(waitMs, undefined, { ref: false }));
      if (data === undefined) continue;
      for (let turn = turnOf(admit); turn && !(await untilDone(turn)); turn = turnOf(admit)) {
        await untilDone(wait(retryMs, undefined, { ref: false }));
      }
      if (socket.readyState !== socket.OPEN) break;
      const handled = handle(data);
      if (handled) await untilDone(handled);
    }
    waiting.length = 0;
    isReading = false;
    if (socket.isPaused) socket.resume();
  }

  function receive(data: Buffer | undefined): void {
    if (socket.readyState !== socket.OPEN) return;
    waiting.push(data);
    if (!isReading) void readWaiting();
  }

  function closeEarly(): void {
    const { bytes, messages } = early;
    socket.close(CloseCode.BadRequest, `Send at most ${messages} messages and ${bytes} bytes before connection_ack.`);
  }

  // A message is counted before it is complete: ws would hold one of the maximum size.
  const countEarlyBytes = (chunk: Buffer) => {
    if (isAcknowledged()) return stream.off('data', countEarlyBytes);
    earlyBytes += chunk.length;
    if (earlyBytes > early.bytes) closeEarly();
  };
  stream.on('data', countEarlyBytes);
  socket.on('message', (data: Buffer) => {
    if (!isAcknowledged() && (earlyMessages += 1) > early.messages) return closeEarly();
    receive(data);
  });
  socket.on('ping', () => receive(undefined));
  socket.on('pong', () => receive(undefined));
}

/** Whether a message was admitted, as soon as that is known. Undefined if it was admitted at once. */
function turnOf(admit: Admit): Promise<boolean> | undefined {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let isAdmitted = false;
  const start = () => {
    isAdmitted = true;
    resolve(true);
  };
  admit(start, () => resolve(false));
  return isAdmitted ? undefined : promise;
}

/**
 * Returns a function that returns how many milliseconds to wait before the next message of a connection is handled.
 *
 * @param now - the time in milliseconds
 */
export function createPace(now: () => number = () => performance.now()): (bytes: number) => number {
  /** Until when the messages so far use up the pace. */
  let usedUntilMs = -Infinity;
  return (bytes) => {
    const nowMs = now();
    usedUntilMs = Math.max(usedUntilMs, nowMs) + Math.max(pace.messageMs, bytes / pace.bytesPerMs);
    return Math.max(0, usedUntilMs - nowMs - pace.burstMs);
  };
}
