// Loaded into a service with --import and --expose-gc: SIGUSR2 collects garbage and writes the memory that is left.
import process from 'node:process';
import { setImmediate } from 'node:timers';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  process.on('SIGUSR2', () => {
    // The second collection frees what finalizers of the first one have released.
    globalThis.gc?.();
    setImmediate(() => {
      globalThis.gc?.();
      const { heapUsed, external, rss } = process.memoryUsage();
      process.stdout.write(
        `memory ${JSON.stringify({ usedMiB: (heapUsed + external) / 2 ** 20, rssMiB: rss / 2 ** 20 })}\n`,
      );
    });
  });
}
