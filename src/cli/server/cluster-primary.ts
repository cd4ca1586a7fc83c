import type { Socket } from 'node:net';
import type { Logger } from '../../lib/log.js';
import { createHeartbeat, startTimeoutMs, type HeartbeatOptions } from './heartbeat.js';
import type { WorkerProcess } from '../io.js';
import { createWriteLockQueue } from './write-lock.js';
import type { WorkerMetrics } from './worker-metrics.js';

const mostCrashes = 5;
const crashWindowMs = 60_000;
/** Longer than a worker takes to stop, and shorter than the primary may. */
const stopWithinMs = 9_000;

export interface ClusterPrimary {
  /** Hands a connection to the next worker that responds, or keeps it until one does. */
  readonly dispatch: (connection: Socket) => void;
  /** Resolves when the workers cannot go on: storage failed, or they end as soon as they are replaced. */
  readonly failed: Promise<Error>;
  /** Lets all answer what they have begun; resolves to whether all ended well. */
  readonly stop: () => Promise<boolean>;
}

export interface ClusterOptions {
  readonly count: number;
  readonly startWorker: () => WorkerProcess;
  readonly log: Logger;
  readonly heartbeat: HeartbeatOptions;
  /** Undefined when nothing is measured. */
  readonly metrics?: WorkerMetrics | undefined;
}

/**
 * Starts the workers and replaces each one that ends or hangs.
 *
 * @throws {Error} When one ends before it was ready the first time.
 */
export async function createClusterPrimary({
  count,
  startWorker,
  log,
  metrics,
  heartbeat: options,
}: ClusterOptions): Promise<ClusterPrimary> {
  const turns = createWriteLockQueue();
  const heartbeat = createHeartbeat(options);
  const running = new Set<WorkerProcess>();
  let ready: WorkerProcess[] = [];
  let unserved: Socket[] = [];
  let crashes: number[] = [];
  let isComplete = false;
  let isStopping = false;
  let areWell = true;
  let allEnded: () => void = () => undefined;
  const { promise: failed, resolve: fail } = Promise.withResolvers<Error>();

  function take(connection: Socket): void {
    const worker = ready.find(heartbeat.isResponsive);
    if (!worker) return void unserved.push(connection);
    ready = [...ready.filter((other) => other !== worker), worker];
    worker.send({ kind: 'connection' }, connection);
  }

  function takeUnserved(): void {
    const connections = unserved;
    unserved = [];
    connections.forEach(take);
  }

  function replace(worker: WorkerProcess, reason: string): void {
    if (isStopping) return;
    const now = performance.now();
    crashes = [...crashes.filter((at) => now - at < crashWindowMs), now];
    if (crashes.length > mostCrashes) {
      return fail(new Error(`${crashes.length} workers ended within a minute.`));
    }
    log.error({ worker: worker.pid, reason }, 'a worker is replaced');
    // A worker that ends before it is ready counts as a crash, too.
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
        if (heartbeat.noteMessage(worker)) takeUnserved();
        metrics?.noteMessage(worker, message);
        if (message.kind === 'turn wanted') turns.want(worker, message.id);
        if (message.kind === 'turn over') turns.over(worker, message.id);
        if (message.kind === 'leaving') {
          if (message.hasLostStorage) fail(new Error('Storage failed.'));
          leave(message.hasLostStorage ? 'storage failed' : 'an error that was not caught');
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
          takeUnserved();
        }
      });
      worker.onExit(({ isSuccess: isWell, reason, unsent }) => {
        running.delete(worker);
        turns.forget(worker);
        heartbeat.forget(worker);
        metrics?.forget(worker);
        if (isStopping) areWell &&= isWell;
        leave(reason);
        for (const connection of unsent) {
          if (isStopping) connection.destroy();
          else take(connection);
        }
        if (running.size === 0) allEnded();
        reject(new Error('A worker did not start.'));
      });
    });
  }

  async function stop(): Promise<boolean> {
    isStopping = true;
    heartbeat.stop();
    unserved.forEach((connection) => connection.destroy());
    if (running.size === 0) return areWell;
    const ended = new Promise<void>((resolve) => {
      allEnded = resolve;
    });
    for (const worker of running) worker.send({ kind: 'stop' });
    const deadline = setTimeout(() => running.forEach((worker) => worker.kill()), stopWithinMs);
    await ended;
    clearTimeout(deadline);
    return areWell;
  }

  try {
    // The first alone, so that what keeps all of them from starting is said once.
    await start();
    await Promise.all(Array.from({ length: count - 1 }, start));
    isComplete = true;
  } catch (error) {
    await stop();
    throw error;
  }
  return { dispatch: take, failed, stop };
}
