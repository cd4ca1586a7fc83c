import type { WorkerProcess } from './worker-channel.js';

const intervalMs = 1_000;
/** Consecutive pings without a response after which a worker receives no new connections. */
const maxMissedForConnections = 2;
/** A worker normally starts within a second; on a busy machine it may take much longer. */
const minStartTimeoutMs = 60_000;

/** Options of the heartbeat of the workers. */
export interface HeartbeatOptions {
  /** Milliseconds without a response after which a worker is lost. */
  readonly timeoutMs: number;
  /** Calls back after every interval, until the returned function is called. */
  readonly every: (intervalMs: number, callback: () => void) => () => void;
}

/** Milliseconds after which a worker that is not ready is lost. */
export const startTimeoutMs = (timeoutMs: number): number => Math.max(minStartTimeoutMs, timeoutMs);

/** Detects workers that do not respond. */
interface Heartbeat {
  /** Waits for a worker to become ready, that is, for a call of `watch`. The worker is lost if that takes too long. */
  readonly watchStart: (worker: WorkerProcess, onLost: () => void) => void;
  /** Pings the worker from now on, until it is lost or forgotten. */
  readonly watch: (worker: WorkerProcess, onLost: () => void) => void;
  /** Records a message of the worker. Returns whether the worker becomes responsive with it. */
  readonly recordMessage: (worker: WorkerProcess) => boolean;
  /** Whether the worker should receive new connections. */
  readonly isResponsive: (worker: WorkerProcess) => boolean;
  readonly forget: (worker: WorkerProcess) => void;
  readonly stop: () => void;
}

/**
 * Pings workers and detects those whose event loop hangs or that do not become ready. It counts pings instead of reading a
 * clock: while the machine or this process is suspended, no ping is sent, and no worker is lost.
 */
export function createHeartbeat({ timeoutMs, every }: HeartbeatOptions): Heartbeat {
  const maxMissed = Math.max(1, Math.round(timeoutMs / intervalMs));
  const maxStartIntervals = Math.round(startTimeoutMs(timeoutMs) / intervalMs);
  const starting = new Map<WorkerProcess, { intervals: number; readonly onLost: () => void }>();
  const watched = new Map<WorkerProcess, { missed: number; readonly onLost: () => void }>();
  const isResponsive = (worker: WorkerProcess) => (watched.get(worker)?.missed ?? 0) <= maxMissedForConnections;

  const stop = every(intervalMs, () => {
    for (const [worker, state] of starting) {
      state.intervals += 1;
      if (state.intervals <= maxStartIntervals) continue;
      starting.delete(worker);
      state.onLost();
    }
    for (const [worker, state] of watched) {
      if (state.missed >= maxMissed) {
        watched.delete(worker);
        state.onLost();
      } else {
        state.missed += 1;
        worker.send({ kind: 'ping' });
      }
    }
  });
  return {
    watchStart: (worker, onLost) => void starting.set(worker, { intervals: 0, onLost }),
    watch: (worker, onLost) => {
      starting.delete(worker);
      watched.set(worker, { missed: 0, onLost });
    },
    recordMessage: (worker) => {
      const wasResponsive = isResponsive(worker);
      const state = watched.get(worker);
      if (state) state.missed = 0;
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
