import DataLoader from 'dataloader';
import type { StoredKey } from '../../keys/key.js';
import type { KeyStore } from '../../keys/ports.js';

/** Finds keys as the store does, with one read for all requests of one tick of the event loop. */
export function createBatchLoader(store: Pick<KeyStore, 'find' | 'findMany'>): KeyStore['find'] {
  const loader = new DataLoader<string, StoredKey | undefined>((keyHashes) => findAll(store, keyHashes), {
    cache: false,
    batchScheduleFn: (dispatch) => setImmediate(dispatch),
  });
  return (keyHash) => loader.load(keyHash);
}

/** Reads the keys together; if that fails, one by one, so that a damaged key fails alone. */
async function findAll(
  store: Pick<KeyStore, 'find' | 'findMany'>,
  keyHashes: readonly string[],
): Promise<(StoredKey | undefined | Error)[]> {
  const findOne = (keyHash: string) => store.find(keyHash).catch(asError);
  if (keyHashes.length === 1) return Promise.all(keyHashes.map(findOne));
  try {
    const found = new Map((await store.findMany([...new Set(keyHashes)])).map((key) => [key.keyHash, key]));
    return keyHashes.map((keyHash) => found.get(keyHash));
  } catch {
    return Promise.all(keyHashes.map(findOne));
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('The key cannot be read.', { cause: thrown });
}
