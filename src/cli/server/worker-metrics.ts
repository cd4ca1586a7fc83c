import type { Exposition } from '../../http/server/metrics-server.js';
import { countersOf, expositionOf, type MetricsSnapshot } from '../../telemetry/aggregate.js';
import type { WorkerMessage, WorkerProcess } from '../io.js';

export interface WorkerMetricsOptions {
  /** The metrics of this process. */
  readonly own: () => Promise<MetricsSnapshot>;
  /** Resolves when a worker has had its time to respond. */
  readonly timeout: () => Promise<void>;
}

export interface WorkerMetrics {
  readonly watch: (worker: WorkerProcess) => void;
  readonly noteMessage: (worker: WorkerProcess, message: WorkerMessage) => void;
  readonly forget: (worker: WorkerProcess) => void;
  /** The metrics of all processes, added up. */
  readonly read: () => Promise<Exposition>;
}

/**
 * Collects the metrics of all workers. What a worker counted stays in the sums when it does not respond or has ended, as
 * of its last response: Prometheus takes a sum that falls for a restart, and what is left of it for new events.
 */
export function createWorkerMetrics({ own, timeout }: WorkerMetricsOptions): WorkerMetrics {
  const latest = new Map<WorkerProcess, MetricsSnapshot>();
  const waiting = new Map<number, (snapshot: MetricsSnapshot | undefined) => void>();
  let ended: Promise<MetricsSnapshot> = Promise.resolve([]);
  let lastID = 0;

  async function snapshotOf(worker: WorkerProcess): Promise<MetricsSnapshot> {
    const id = (lastID += 1);
    const response = new Promise<MetricsSnapshot | undefined>((resolve) => waiting.set(id, resolve));
    worker.send({ kind: 'metrics wanted', id });
    const snapshot = await Promise.race([response, timeout().then(() => undefined)]);
    waiting.delete(id);
    // One that has ended meanwhile is part of `ended`.
    if (!latest.has(worker)) return [];
    if (snapshot) latest.set(worker, snapshot);
    return snapshot ?? countersOf([latest.get(worker) ?? []]);
  }

  return {
    watch: (worker) => void latest.set(worker, []),
    noteMessage: (_worker, message) => {
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
