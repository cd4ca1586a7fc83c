import { setImmediate as nextIteration } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createReadBudget } from '../../../src/keys/read-budget.js';
import { createTimeSlices, mapInSlices } from '../../../src/storage/time-slices.js';

/** A clock on which each look takes some milliseconds. */
function steppingClock(stepMs: number) {
  let nowMs = 0;
  return () => (nowMs += stepMs);
}

describe('time slices', () => {
  it('starts work at once while an iteration of the event loop has time left', () => {
    const slices = createTimeSlices(10, steppingClock(4));
    expect([slices.next(), slices.next(), slices.next()]).toStrictEqual([undefined, undefined, undefined]);
    expect(slices.next()).toBeInstanceOf(Promise);
  });

  it('starts again in the next iteration', async () => {
    const slices = createTimeSlices(10, steppingClock(11));
    expect(slices.next()).toBeUndefined();
    expect(slices.next()).toBeInstanceOf(Promise);
    await nextIteration();
    await nextIteration();
    expect(slices.next()).toBeUndefined();
  });

  it('runs an immediate of others between two items that take a slice each', async () => {
    const slices = createTimeSlices(10, steppingClock(11));
    const order: string[] = [];
    const work = mapInSlices(slices, ['first', 'second', 'third'], (item) => order.push(item));
    setImmediate(() => order.push('other'));
    await work;
    expect(order.indexOf('other')).toBeGreaterThan(order.indexOf('first'));
    expect(order.indexOf('other')).toBeLessThan(order.indexOf('third'));
  });

  it('continues requests in the order of their calls', async () => {
    const slices = createTimeSlices(10, steppingClock(11));
    const order: number[] = [];
    const one = async (number: number) => {
      await slices.next();
      order.push(number);
    };
    expect(slices.next()).toBeUndefined();
    await Promise.all([1, 2, 3, 4].map(one));
    expect(order).toStrictEqual([1, 2, 3, 4]);
  });

  it('ends the work of a request after its deadline', async () => {
    let nowMs = 0;
    const reads = createReadBudget(5_000, 1_000, () => nowMs);
    const seen: number[] = [];
    const work = mapInSlices(
      createTimeSlices(),
      [1, 2, 3],
      (item) => {
        seen.push(item);
        nowMs += 2_500;
      },
      reads,
    );
    await expect(work).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 1 });
    expect(seen).toStrictEqual([1, 2]);
  });
});
