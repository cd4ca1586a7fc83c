import { setTimeout as wait } from 'node:timers/promises';
import type { RunExclusive } from '../../storage/storage.js';
import type { PrimaryProcess, WorkerProcess } from './worker-channel.js';

const timeoutMs = 500;

/**
 * Creates the write lock of a worker. It provides fairness only: the locks of the database ensure mutual exclusion, so
 * a worker proceeds without the lock after a timeout.
 */
export function createWriteLock(primary: PrimaryProcess): RunExclusive {
  const waiting = new Map<number, () => void>();
  let lastID = 0;
  primary.onMessage((message) => {
    if (message.kind === 'write lock granted') waiting.get(message.id)?.();
  });
  return async (work) => {
    const id = (lastID += 1);
    const timeout = new AbortController();
    const granted = new Promise<void>((resolve) => waiting.set(id, resolve));
    primary.send({ kind: 'write lock requested', id });
    try {
      await Promise.race([granted, wait(timeoutMs, undefined, { signal: timeout.signal })]);
      return await work();
    } finally {
      timeout.abort();
      waiting.delete(id);
      primary.send({ kind: 'write lock released', id });
    }
  };
}

interface LockRequest {
  readonly worker: WorkerProcess;
  readonly id: number;
}

/** Creates the queue of the primary: grants the write lock to one request at a time, in the order of arrival. */
export function createWriteLockQueue() {
  let queue: LockRequest[] = [];

  function removeIf(isRemoved: (request: LockRequest) => boolean): void {
    const [holder] = queue;
    queue = queue.filter((request) => !isRemoved(request));
    if (queue[0] !== holder) grantFirst();
  }
  function grantFirst(): void {
    const [first] = queue;
    first?.worker.send({ kind: 'write lock granted', id: first.id });
  }

  return {
    request: (worker: WorkerProcess, id: number) => {
      queue.push({ worker, id });
      if (queue.length === 1) grantFirst();
    },
    release: (worker: WorkerProcess, id: number) =>
      removeIf((request) => request.worker === worker && request.id === id),
    /** Removes all requests of a worker that has ended. */
    forget: (worker: WorkerProcess) => removeIf((request) => request.worker === worker),
  };
}
