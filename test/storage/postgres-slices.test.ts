import { expect, it } from 'vitest';
import { createScheduler } from '../../src/lib/scheduler.js';
import { makeOwnPlace, postgres } from '../support/engines.js';
import { openOwnStorage } from '../support/storage.js';
import { aChange, aKey } from '../support/factories.js';

it.skipIf(postgres.isMissing)('reads each key and each history on PostgreSQL in a time slice', async () => {
  const slices = createScheduler();
  let count = 0;
  const counting = { ...slices, next: () => ((count += 1), slices.next()) };
  const { store } = await openOwnStorage(await makeOwnPlace(postgres), { slices: counting });
  const key = aKey('sliced');
  await store.add([aChange(key)]);
  const slicesOf = async (work: Promise<unknown>) => {
    const before = count;
    await work;
    return count - before;
  };
  expect(await slicesOf(Promise.all([1, 2, 3].map(() => store.find(key.keyHash))))).toBe(3);
  expect(await slicesOf(store.historyOf(key.keyHash))).toBeGreaterThanOrEqual(3);
});
