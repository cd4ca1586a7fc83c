import type { Socket } from 'node:net';
import type { Logger } from '../log.js';
import type { WorkerProcess } from './io.js';
import { createTurns } from './turns.js';

const mostCrashes = 5;
const crashWindowMs = 60_000;
/** Longer than a worker takes to stop, and shorter than the primary may. */
const stopWithinMs = 9_000;

export interface Crew {
  /** Hands a connection to the worker whose turn it is; where there is none at the moment, to the next that is ready. */
  readonly take: (connection: Socket) => void;
  /** Resolves when the workers cannot go on: storage failed, or they end as soon as they are replaced. */
  readonly failed: Promise<Error>;
  /** Lets all answer what they have begun; resolves to whether all ended well. */
  readonly stop: () => Promise<boolean>;
}

/** So many workers, of which each that ends is replaced. Rejects where one ends before it was ready the first time. */
export async function createCrew(count: number, startWorker: () => WorkerProcess, log: Logger): Promise<Crew> {
  const turns = createTurns();
  const running = new Set<WorkerProcess>();
  let ready: WorkerProcess[] = [];
  let unserved: Socket[] = [];
  let crashes: number[] = [];
  let isComplete = false;
  let isStopping = false;
  let areWell = true;
  let allEnded: () => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<Error>((resolve) => {
    fail = resolve;
  });

  function take(connection: Socket): void {
    const [worker, ...others] = ready;
    if (!worker) return void unserved.push(connection);
    ready = [...others, worker];
    worker.send({ kind: 'connection' }, connection);
  }

  function replace(worker: WorkerProcess): void {
    if (isStopping) return;
    const now = performance.now();
    crashes = [...crashes.filter((at) => now - at < crashWindowMs), now];
    if (crashes.length > mostCrashes) {
      return fail(new Error(`${crashes.length} workers ended within a minute.`));
    }
    log.error({ worker: worker.pid }, 'a worker ends; another takes its place');
    // One that ends before it is ready is a crash like any other.
    start().catch(() => undefined);
  }

  function start(): Promise<void> {
    const worker = startWorker();
    running.add(worker);
    let isLeaving = false;
    return new Promise((resolve, reject) => {
      let wasReady = false;
      const leave = () => {
        ready = ready.filter((other) => other !== worker);
        if (!isLeaving && (wasReady || isComplete)) replace(worker);
        isLeaving = true;
      };
      worker.onMessage((message) => {
        if (message.kind === 'turn wanted') turns.want(worker, message.id);
        if (message.kind === 'turn over') turns.over(worker, message.id);
        if (message.kind === 'leaving') {
          if (message.hasLostStorage) fail(new Error('Storage failed.'));
          leave();
          worker.send({ kind: 'stop' });
        }
        if (message.kind === 'ready') {
          wasReady = true;
          resolve();
          if (isStopping) return worker.send({ kind: 'stop' });
          ready.push(worker);
          const connections = unserved;
          unserved = [];
          connections.forEach(take);
        }
      });
      worker.onEnd((isWell, unsent) => {
        running.delete(worker);
        turns.forget(worker);
        if (isStopping) areWell &&= isWell;
        leave();
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
  return { take, failed, stop };
}
