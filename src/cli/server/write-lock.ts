import { setTimeout as wait } from 'node:timers/promises';
import type { RunExclusive } from '../../storage/storage.js';
import type { PrimaryProcess, WorkerProcess } from '../io.js';

const patienceMs = 500;

/**
 * Asks the primary before each group of writes. The locks of the database are what keeps writes apart; this only makes
 * them take turns, so that whoever gets no answer for long goes on without.
 */
export function createWriteLock(primary: PrimaryProcess): RunExclusive {
  const waiting = new Map<number, () => void>();
  let last = 0;
  primary.onMessage((message) => {
    if (message.kind === 'your turn') waiting.get(message.id)?.();
  });
  return async (work) => {
    const id = (last += 1);
    const patience = new AbortController();
    const granted = new Promise<void>((resolve) => waiting.set(id, resolve));
    primary.send({ kind: 'turn wanted', id });
    try {
      await Promise.race([granted, wait(patienceMs, undefined, { signal: patience.signal })]);
      return await work();
    } finally {
      patience.abort();
      waiting.delete(id);
      primary.send({ kind: 'turn over', id });
    }
  };
}

interface Wish {
  readonly worker: WorkerProcess;
  readonly id: number;
}

/** Lets one worker write at a time, in the order in which they asked. */
export function createWriteLockQueue() {
  let line: Wish[] = [];

  function leave(isLeaving: (wish: Wish) => boolean): void {
    const [holder] = line;
    line = line.filter((wish) => !isLeaving(wish));
    if (line[0] !== holder) callFirst();
  }
  function callFirst(): void {
    const [first] = line;
    first?.worker.send({ kind: 'your turn', id: first.id });
  }

  return {
    want: (worker: WorkerProcess, id: number) => {
      line.push({ worker, id });
      if (line.length === 1) callFirst();
    },
    over: (worker: WorkerProcess, id: number) => leave((wish) => wish.worker === worker && wish.id === id),
    /** Forgets one that has ended. */
    forget: (worker: WorkerProcess) => leave((wish) => wish.worker === worker),
  };
}
