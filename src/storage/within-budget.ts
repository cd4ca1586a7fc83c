import type { ReadBudget } from '../keys/read-budget.js';

/**
 * Does work that reads many rows, after other such work of the same request. Rejects with UNAVAILABLE at the deadline of
 * the request, whether the work is done or not.
 */
export function withinBudget<T>(reads: ReadBudget | undefined, work: () => Promise<T>): Promise<T> {
  if (!reads) return work();
  return reads.inOrder(async () => {
    reads.requireTime();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(reads.expired()), Math.max(reads.endsAtMs - performance.now(), 0));
    });
    try {
      return await Promise.race([work(), late]);
    } finally {
      clearTimeout(timer);
    }
  });
}
