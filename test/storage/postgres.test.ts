import { describe } from 'vitest';
import { openPostgres } from '../../src/storage/postgres/engine.js';
import { makeOwnPlace, postgres } from '../support/engines.js';
import { signer } from '../support/signer.js';
import { storageDeps } from '../support/storage.js';
import { keyStoreContract } from './key-store.contract.js';

describe.skipIf(postgres.isMissing)('D-16', () => {
  keyStoreContract(postgres.name, async () => {
    const { env, run } = await makeOwnPlace(postgres);
    return {
      open: async () => {
        const opened = await openPostgres(env['KEYFRONT_DATABASE_URL'] ?? '');
        const { store } = await opened.start(signer, storageDeps());
        return { store, close: () => opened.close() };
      },
      tamper: run,
    };
  });
});
