import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(4096);
let used = pool.length;

/**
 * Returns random bytes of a cryptographic generator, at most 4,096. Hundreds of calls share one of the generator, which takes
 * 4 to 35 µs: an import needs random bytes twice for each key.
 */
export function randomBytesOf(size: number): Buffer {
  if (used + size > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = Buffer.from(pool.subarray(used, used + size));
  used += size;
  // Each byte is given out once, and does not stay in memory here.
  pool.fill(0, used - size, used);
  return bytes;
}
