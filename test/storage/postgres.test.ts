import { describe } from 'vitest';
import { openPostgres } from '../../src/storage/postgres/engine.js';
import { postgres } from '../support/engines.js';
import { freshOwnDatabase, testPostgres } from '../support/postgres.js';
import { signer } from '../support/signer.js';
import { storageDeps } from '../support/storage.js';
import { keyStoreContract } from './key-store.contract.js';

const server = await testPostgres();

describe.skipIf(postgres.isMissing)('D-16', () => {
  keyStoreContract(postgres.name, async () => {
    const { url, run } = await freshOwnDatabase(server);
    return {
      open: async () => {
        const opened = await openPostgres(url);
        const { store } = await opened.start(signer, storageDeps());
        return { store, close: () => opened.close() };
      },
      tamper: async (statement) => void (await run(statement)),
    };
  });
});
