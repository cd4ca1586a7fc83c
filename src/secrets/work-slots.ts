import { AppError } from '../errors.js';

/** Runs tasks a few at a time, in the order they came. */
export interface WorkSlots {
  /** Settles as the task does. Rejects with UNAVAILABLE, without running it, if too many wait already. */
  run<T>(task: () => Promise<T>): Promise<T>;
  /** How many wait. */
  waiting(): number;
}

/** At most `concurrency` (1 or more) tasks run at once and at most `queueLimit` more wait; a failed task frees its place too. */
export function createWorkSlots(concurrency: number, queueLimit: number): WorkSlots {
  let taken = 0;
  const waiting: (() => void)[] = [];

  async function enter(): Promise<void> {
    if (taken < concurrency) {
      taken += 1;
      return;
    }
    if (waiting.length >= queueLimit) {
      throw new AppError('UNAVAILABLE', 'Too many requests of this kind are waiting; try again shortly.', {
        retryAfterSeconds: 1,
      });
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function leave(): void {
    // The place goes straight to the next one in line: were it freed first, a newcomer could slip in between.
    const next = waiting.shift();
    if (next === undefined) taken -= 1;
    else next();
  }

  return {
    waiting: () => waiting.length,
    async run(task) {
      await enter();
      try {
        return await task();
      } finally {
        leave();
      }
    },
  };
}
