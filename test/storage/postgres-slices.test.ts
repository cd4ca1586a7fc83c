import { expect, it } from 'vitest';
import { openPostgres } from '../../src/storage/postgres/engine.js';
import { createTimeSlices } from '../../src/storage/time-slices.js';
import { postgres } from '../support/engines.js';
import { freshDatabase, testPostgres } from '../support/postgres.js';
import { signer } from '../support/signer.js';
import { storageDeps } from '../support/storage.js';
import { aChange, aKey } from '../support/factories.js';

const server = await testPostgres();

it.skipIf(postgres.isMissing)('reads each key and each history on PostgreSQL in a time slice', async () => {
  const { url, drop } = await freshDatabase(server);
  const opened = await openPostgres(url);
  try {
    const slices = createTimeSlices();
    let count = 0;
    const counting = { next: () => ((count += 1), slices.next()) };
    const { store } = await opened.start(signer, storageDeps({ slices: counting }));
    const key = aKey('sliced');
    await store.add([aChange(key)]);
    const slicesOf = async (work: Promise<unknown>) => {
      const before = count;
      await work;
      return count - before;
    };
    expect(await slicesOf(Promise.all([1, 2, 3].map(() => store.find(key.keyHash))))).toBe(3);
    expect(await slicesOf(store.historyOf(key.keyHash))).toBeGreaterThanOrEqual(3);
  } finally {
    await opened.close();
    await drop();
  }
});
