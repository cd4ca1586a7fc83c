import { expect, it } from 'vitest';
import { createReadBudget } from '../../../src/keys/read-budget.js';
import { createScheduler } from '../../../src/lib/scheduler.js';
import { mapInSlices } from '../../../src/storage/time-slices.js';

it('runs an immediate of others between two items that take a slice each', async () => {
  let nowMs = 0;
  const slices = createScheduler({}, () => (nowMs += 11));
  const order: string[] = [];
  const work = mapInSlices(slices, ['first', 'second', 'third'], (item) => order.push(item));
  setImmediate(() => order.push('other'));
  await work;
  expect(order.indexOf('other')).toBeGreaterThan(order.indexOf('first'));
  expect(order.indexOf('other')).toBeLessThan(order.indexOf('third'));
});

it('ends the work of a request after its deadline', async () => {
  let nowMs = 0;
  const reads = createReadBudget(5_000, 1_000, () => nowMs);
  const seen: number[] = [];
  const work = mapInSlices(
    createScheduler(),
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
