import { join } from 'node:path';
import { readConfig } from '../../build/config/config.js';
import { openServices } from '../../build/storage/open-storage.js';
import { followKeyRing } from '../../build/crypto/key-ring.js';
import { createRowSigner } from '../../build/crypto/row-signer.js';
import { openDatabase } from '../../build/storage/sqlite/connection.js';
import { changeOf } from './growth-keys.mjs';
import { createKeyStore } from './growth-store.mjs';

const batch = 5_000;

/**
 * Fills a data folder with `size` keys without waiting for the disk, unlike a service. `importFigures` measures
 * the rate of an import.
 */
export async function fill(/** @type {string} */ data, /** @type {number} */ size) {
  const { config, secrets } = readConfig({ KEYFRONT_DATA: data });
  await (await openServices(config, secrets, {}, { access: 'create' })).close();
  const database = openDatabase(config.databaseFile);
  try {
    database.pragma('synchronous = OFF');
    database.pragma(`cache_size = -${2 * 2 ** 20}`);
    database.pragma('wal_autocheckpoint = 100000');
    const store = createKeyStore(database, createRowSigner(followKeyRing(join(data, 'key-ring.json'))));
    for (let from = 0; from < size; from += batch) {
      const length = Math.min(batch, size - from);
      await store.add(Array.from({ length }, (_, index) => changeOf(from + index, size)));
    }
    database.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    database.close();
  }
}
