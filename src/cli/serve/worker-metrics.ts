import type { Exposition } from '../../http/server/metrics-server.js';
import { countersOf, expositionOf, type MetricsSnapshot } from '../../telemetry/aggregate.js';
import type { WorkerMessage, WorkerProcess } from './worker-channel.js';

/** Options of the metrics of a cluster. */
export interface WorkerMetricsOptions {
  /** The metrics of this process. */
  readonly own: () => Promise<MetricsSnapshot>;
  /** Resolves when the time for a response is over. */
  readonly timeout: () => Promise<void>;
}

/** The metrics of all workers of a cluster. */
export interface WorkerMetrics {
  readonly watch: (worker: WorkerProcess) => void;
  readonly recordMessage: (worker: WorkerProcess, message: WorkerMessage) => void;
  readonly forget: (worker: WorkerProcess) => void;
  /** Reads the sum of the metrics of all processes. */
  readonly read: () => Promise<Exposition>;
}

/**
 * Collects the metrics of all workers. If a worker does not respond or has ended, the sums include its last response:
 * Prometheus takes a sum that decreases for a restart, and would count the rest as new events.
 */
export function createWorkerMetrics({ own, timeout }: WorkerMetricsOptions): WorkerMetrics {
  const latest = new Map<WorkerProcess, MetricsSnapshot>();
  const waiting = new Map<number, (snapshot: MetricsSnapshot | undefined) => void>();
  let ended: Promise<MetricsSnapshot> = Promise.resolve([]);
  let lastID = 0;

  async function snapshotOf(worker: WorkerProcess): Promise<MetricsSnapshot> {
    const id = (lastID += 1);
    const response = new Promise<MetricsSnapshot | undefined>((resolve) => waiting.set(id, resolve));
    worker.send({ kind: 'metrics requested', id });
    const snapshot = await Promise.race([response, timeout().then(() => undefined)]);
    waiting.delete(id);
    // `ended` already includes a worker that has ended meanwhile.
    if (!latest.has(worker)) return [];
    if (snapshot) latest.set(worker, snapshot);
    return snapshot ?? countersOf([latest.get(worker) ?? []]);
  }

  return {
    watch: (worker) => void latest.set(worker, []),
    recordMessage: (_worker, message) => {
      if (message.kind === 'metrics') waiting.get(message.id)?.(message.snapshot);
    },
    forget: (worker) => {
      const last = latest.get(worker) ?? [];
      latest.delete(worker);
      ended = ended.then((before) => countersOf([before, last]));
    },
    read: async () => {
      const snapshots = await Promise.all([own(), ...[...latest.keys()].map(snapshotOf)]);
      return expositionOf([...snapshots, await ended]);
    },
  };
}
