import type { WorkerProcess } from '../io.js';

const intervalMs = 1_000;
/** Pings without a response after which a worker gets no new connections. */
const maxForConnections = 2;

export interface HeartbeatOptions {
  /** Milliseconds without a response after which a worker is lost. */
  readonly timeoutMs: number;
  /** Calls back after every interval, until the returned function is called. */
  readonly every: (intervalMs: number, callback: () => void) => () => void;
}

/** A worker opens storage that is whole and up to date, which takes a second; a busy machine makes it longer. */
const minStartMs = 60_000;

/** Milliseconds after which a worker that is not ready is lost. */
export const startTimeoutMs = (timeoutMs: number): number => Math.max(minStartMs, timeoutMs);

export interface Heartbeat {
  /** Waits for a worker to become ready, that is, for `watch`. It is lost when that takes too long. */
  readonly watchStart: (worker: WorkerProcess, onLost: () => void) => void;
  /** Pings the worker from now on, until it is lost or forgotten. */
  readonly watch: (worker: WorkerProcess, onLost: () => void) => void;
  /** Notes a message of the worker. Returns whether it gets new connections again. */
  readonly noteMessage: (worker: WorkerProcess) => boolean;
  readonly isResponsive: (worker: WorkerProcess) => boolean;
  readonly forget: (worker: WorkerProcess) => void;
  readonly stop: () => void;
}

/**
 * Pings workers and finds those whose event loop hangs, or that do not become ready. It counts pings instead of reading a clock: when the whole machine
 * or this process is suspended, no ping is sent, and no worker is lost.
 */
export function createHeartbeat({ timeoutMs, every }: HeartbeatOptions): Heartbeat {
  const maxUnanswered = Math.max(1, Math.round(timeoutMs / intervalMs));
  const maxStart = Math.round(startTimeoutMs(timeoutMs) / intervalMs);
  const starting = new Map<WorkerProcess, { intervals: number; readonly onLost: () => void }>();
  const watched = new Map<WorkerProcess, { unanswered: number; readonly onLost: () => void }>();
  const isResponsive = (worker: WorkerProcess) => (watched.get(worker)?.unanswered ?? 0) <= maxForConnections;

  const stop = every(intervalMs, () => {
    for (const [worker, state] of starting) {
      state.intervals += 1;
      if (state.intervals <= maxStart) continue;
      starting.delete(worker);
      state.onLost();
    }
    for (const [worker, state] of watched) {
      if (state.unanswered >= maxUnanswered) {
        watched.delete(worker);
        state.onLost();
      } else {
        state.unanswered += 1;
        worker.send({ kind: 'ping' });
      }
    }
  });
  return {
    watchStart: (worker, onLost) => void starting.set(worker, { intervals: 0, onLost }),
    watch: (worker, onLost) => {
      starting.delete(worker);
      watched.set(worker, { unanswered: 0, onLost });
    },
    noteMessage: (worker) => {
      const wasResponsive = isResponsive(worker);
      const state = watched.get(worker);
      if (state) state.unanswered = 0;
      return !wasResponsive;
    },
    isResponsive,
    forget: (worker) => {
      starting.delete(worker);
      watched.delete(worker);
    },
    stop,
  };
}
