import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { quantile } from './statistics.mjs';

/** Returns the median duration of a write and sync of a page in microseconds, in a file that is reused, as a log is. */
export function syncTime(/** @type {string} */ path, count = 200) {
  const file = openSync(path, 'w');
  const page = Buffer.alloc(8192, 1);
  writeSync(file, Buffer.alloc(count * page.length));
  fdatasyncSync(file);
  const times = Array.from({ length: count }, (_, index) => {
    const begin = performance.now();
    writeSync(file, page, 0, page.length, index * page.length);
    fdatasyncSync(file);
    return (performance.now() - begin) * 1000;
  });
  closeSync(file);
  return quantile(times, 0.5);
}
