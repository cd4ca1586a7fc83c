import type { Socket } from 'node:net';
import type { Logger } from '../../lib/log.js';
import { createHeartbeat, startTimeoutMs, type HeartbeatOptions } from './heartbeat.js';
import type { WorkerProcess } from './worker-channel.js';
import type { WorkerMetrics } from './worker-metrics.js';
import { createWriteLockQueue } from './write-lock.js';

const maxCrashes = 5;
const crashWindowMs = 60_000;
/** Longer than the stop timeout of a worker, and shorter than that of the primary in `main.ts`. */
const stopTimeoutMs = 9_000;

/** The running primary process of a cluster. */
interface ClusterPrimary {
  /** Sends a connection to the next responsive worker, or queues it until there is one. */
  readonly dispatch: (connection: Socket) => void;
  /** Resolves when the cluster cannot continue: storage failed, or workers crash repeatedly. */
  readonly failed: Promise<Error>;
  /** Stops all workers after their requests in progress. Resolves to whether all exited with 0. */
  readonly stop: () => Promise<boolean>;
}

/** Options of a cluster. */
interface ClusterOptions {
  readonly count: number;
  readonly startWorker: () => WorkerProcess;
  readonly log: Logger;
  readonly heartbeat: HeartbeatOptions;
  /** Undefined if metrics are disabled. */
  readonly metrics?: WorkerMetrics | undefined;
}

/**
 * Starts the workers and replaces each one that ends or hangs.
 *
 * @throws {Error} if one of the first workers ends before it is ready
 */
export async function createClusterPrimary({
  count,
  startWorker,
  log,
  metrics,
  heartbeat: options,
}: ClusterOptions): Promise<ClusterPrimary> {
  const writeLock = createWriteLockQueue();
  const heartbeat = createHeartbeat(options);
  const running = new Set<WorkerProcess>();
  let ready: WorkerProcess[] = [];
  let queued: Socket[] = [];
  let crashes: number[] = [];
  let isComplete = false;
  let isStopping = false;
  let haveAllSucceeded = true;
  let allEnded: () => void = () => undefined;
  const { promise: failed, resolve: fail } = Promise.withResolvers<Error>();

  function dispatch(connection: Socket): void {
    const worker = ready.find(heartbeat.isResponsive);
    if (!worker) return void queued.push(connection);
    ready = [...ready.filter((other) => other !== worker), worker];
    worker.send({ kind: 'connection' }, connection);
  }

  function dispatchQueued(): void {
    const connections = queued;
    queued = [];
    connections.forEach(dispatch);
  }

  function replace(worker: WorkerProcess, reason: string): void {
    if (isStopping) return;
    const now = performance.now();
    crashes = [...crashes.filter((at) => now - at < crashWindowMs), now];
    if (crashes.length > maxCrashes) {
      return fail(new Error(`${crashes.length} workers ended within a minute.`));
    }
    log.error({ worker: worker.pid, reason }, 'a worker is replaced');
    // A worker that ends before it is ready also counts as a crash.
    start().catch(() => undefined);
  }

  function start(): Promise<void> {
    const worker = startWorker();
    running.add(worker);
    let isLeaving = false;
    return new Promise((resolve, reject) => {
      let wasReady = false;
      const leave = (reason: string) => {
        ready = ready.filter((other) => other !== worker);
        if (!isLeaving && (wasReady || isComplete)) replace(worker, reason);
        isLeaving = true;
      };
      heartbeat.watchStart(worker, () => {
        leave(`not ready after ${startTimeoutMs(options.timeoutMs) / 1_000} seconds`);
        worker.kill();
      });
      worker.onMessage((message) => {
        if (heartbeat.recordMessage(worker)) dispatchQueued();
        metrics?.recordMessage(worker, message);
        if (message.kind === 'write lock requested') writeLock.request(worker, message.id);
        if (message.kind === 'write lock released') writeLock.release(worker, message.id);
        if (message.kind === 'leaving') {
          if (message.hasLostStorage) fail(new Error('Storage failed.'));
          leave(message.hasLostStorage ? 'storage failed' : 'an uncaught exception');
          worker.send({ kind: 'stop' });
        }
        if (message.kind === 'ready') {
          wasReady = true;
          resolve();
          if (isStopping) return worker.send({ kind: 'stop' });
          ready.push(worker);
          metrics?.watch(worker);
          heartbeat.watch(worker, () => {
            leave(`no heartbeat for ${options.timeoutMs / 1_000} seconds`);
            worker.kill();
          });
          dispatchQueued();
        }
      });
      worker.onExit(({ isSuccess, reason, unsent }) => {
        running.delete(worker);
        writeLock.forget(worker);
        heartbeat.forget(worker);
        metrics?.forget(worker);
        if (isStopping) haveAllSucceeded &&= isSuccess;
        leave(reason);
        for (const connection of unsent) {
          if (isStopping) connection.destroy();
          else dispatch(connection);
        }
        if (running.size === 0) allEnded();
        reject(new Error('A worker did not start.'));
      });
    });
  }

  async function stop(): Promise<boolean> {
    isStopping = true;
    heartbeat.stop();
    queued.forEach((connection) => connection.destroy());
    if (running.size === 0) return haveAllSucceeded;
    const ended = new Promise<void>((resolve) => {
      allEnded = resolve;
    });
    for (const worker of running) worker.send({ kind: 'stop' });
    const deadline = setTimeout(() => running.forEach((worker) => worker.kill()), stopTimeoutMs);
    await ended;
    clearTimeout(deadline);
    return haveAllSucceeded;
  }

  try {
    // The first worker starts alone, so that an error that stops all of them is logged once.
    await start();
    await Promise.all(Array.from({ length: count - 1 }, start));
    isComplete = true;
  } catch (error) {
    await stop();
    throw error;
  }
  return { dispatch, failed, stop };
}
