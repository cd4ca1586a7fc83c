// The core and the store of every server but Keyfront, and the principals of both credentials.
import { randomUUID } from 'node:crypto';
import { readConfig } from '../../../build/config/config.js';
import { callerOf } from '../../../build/graphql/context.js';
import { createLoaders } from '../../../build/graphql/dataloaders.js';
import { openServices } from '../../../build/storage/open-storage.js';
import { createKeyService } from '../../../build/keys/key-service.js';

const { KEYFRONT_DATA, NODE_ENV, BENCH_STORE } = process.env;
const { config, secrets } = readConfig({ KEYFRONT_DATA, NODE_ENV });
const installation = await openServices(config, secrets, {}, { access: 'create' });

/** The store of the service; with `BENCH_STORE=single`, every update is a separate transaction. */
const store = BENCH_STORE === 'single' ? withoutGroupCommits(installation.ports.store) : installation.ports.store;

/** The key service. */
export const keys = createKeyService({ ...installation.ports, store });

/** The principals of both credentials of the data folder. */
export const auth = Object.fromEntries(
  (await installation.credentials.list()).map(({ id, kind, label, orgID }) => [
    kind,
    { credentialID: id, label, orgID },
  ]),
);

/** Creates the context of a request, as `src/graphql/server.ts` does, without authentication. */
export function createContext() {
  const client = { auth, requestID: randomUUID() };
  const serviceCaller = () => callerOf(client, 'service');
  return {
    ...client,
    keys,
    audit: () => undefined,
    serviceCaller,
    nextSlice: () => undefined,
    loaders: createLoaders(keys, serviceCaller),
  };
}

/**
 * Prevents group commits: each update begins when the previous one is committed.
 */
function withoutGroupCommits(/** @type {import('../../../build/keys/ports.js').KeyStore} */ shared) {
  let last = Promise.resolve();
  return {
    ...shared,
    update: (/** @type {string} */ keyHash, /** @type {any} */ change) => {
      const mine = last.then(() => shared.update(keyHash, change));
      last = mine.then(
        () => {},
        () => {},
      );
      return mine;
    },
  };
}

/** Sends the address to the benchmark. */
export function announce(/** @type {string} */ url) {
  console.log(`listens on ${url}`);
}
