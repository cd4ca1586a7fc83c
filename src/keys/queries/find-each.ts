import { asError, errorCodeOf } from '../../lib/errors.js';
import type { StoredKey } from '../key.js';
import type { KeyStore } from '../ports.js';
import type { ReadBudget } from '../read-budget.js';

/**
 * Finds the key of each of these hashes with one query. If a key fails its integrity check, they are read one by one, so that
 * only the result of that key is the error.
 */
export async function findEach(
  store: Pick<KeyStore, 'find' | 'findMany'>,
  keyHashes: readonly string[],
  reads?: ReadBudget,
  orgID?: string,
): Promise<(StoredKey | Error | undefined)[]> {
  const findOne = async (keyHash: string) => store.find(keyHash, orgID).catch(asError);
  if (keyHashes.length === 1) return Promise.all(keyHashes.map(findOne));
  try {
    const keys = await store.findMany([...new Set(keyHashes)], reads, orgID);
    const found = new Map(keys.map((key) => [key.keyHash, key]));
    return keyHashes.map((keyHash) => found.get(keyHash));
  } catch (error) {
    if (errorCodeOf(error) !== 'INTERNAL') throw error;
    return Promise.all(keyHashes.map(findOne));
  }
}
