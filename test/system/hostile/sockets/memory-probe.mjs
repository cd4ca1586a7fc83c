// Loaded into each process of a service (NODE_OPTIONS). SIGUSR2 collects garbage and writes the used memory to a file.
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

const folder = process.env['MEMORY_PROBE_FOLDER'];
if (isMainThread && folder !== undefined) {
  setFlagsFromString('--expose-gc');
  const collectGarbage = /** @type {() => void} */ (runInNewContext('gc'));
  const measure = async () => {
    // Finalizers run between the collections, and release further objects.
    for (let round = 0; round < 4; round += 1) {
      collectGarbage();
      await nextIteration();
    }
    const { heapUsed, external } = process.memoryUsage();
    const file = join(folder, String(process.pid));
    writeFileSync(`${file}.new`, JSON.stringify({ heapUsed, external }));
    renameSync(`${file}.new`, file);
  };
  process.on('SIGUSR2', () => void measure());
}
