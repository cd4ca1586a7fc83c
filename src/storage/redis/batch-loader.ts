import DataLoader from 'dataloader';
import type { StoredKey } from '../../keys/key.js';
import type { KeyStore } from '../../keys/ports.js';
import { findEach } from '../../keys/queries/find-each.js';

/** Finds keys as the store does, with one read for all requests of one tick of the event loop. */
export function createBatchLoader(store: Pick<KeyStore, 'find' | 'findMany'>): KeyStore['find'] {
  const loader = new DataLoader<string, StoredKey | undefined>((keyHashes) => findEach(store, keyHashes), {
    cache: false,
    batchScheduleFn: (dispatch) => setImmediate(dispatch),
  });
  return (keyHash) => loader.load(keyHash);
}
