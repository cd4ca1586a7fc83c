import type { Logger } from '../../lib/log.js';
import type { IO } from '../io.js';

/** The uncaught exceptions of this process. */
export interface UncaughtExceptions {
  /** Resolves to the first one. */
  readonly first: Promise<Error>;
  readonly count: () => number;
}

/** Logs every uncaught exception from now on. */
export function trackUncaughtExceptions(io: IO, log: Logger): UncaughtExceptions {
  let count = 0;
  const first = new Promise<Error>((resolve) =>
    io.onUncaughtException?.((thrown) => {
      count += 1;
      const error = thrown instanceof Error ? thrown : new Error('A value that is no Error was thrown.');
      log.fatal({ err: error }, 'uncaught exception');
      resolve(error);
    }),
  );
  return { first, count: () => count };
}
