import type { TestApp } from './app.js';
import type { StoredKey, KeyRevision } from '../../src/keys/key.js';

export interface State {
  readonly key: StoredKey | undefined;
  readonly audit: KeyRevision[];
}

/** All that storage holds of a key: what must be the same before and after a request that is rejected. */
export async function stateOf({ app: { services: installation } }: TestApp, keyID: string): Promise<State> {
  const keyHash = installation.ports.hashKeyID(keyID);
  return { key: await installation.store.find(keyHash), audit: await installation.store.historyOf(keyHash) };
}

/** The hashes of all keys, by which a test sees that none was created. */
export async function allHashes({ app: { services: installation } }: TestApp): Promise<string[]> {
  const hashes: string[] = [];
  for await (const { keyHash } of installation.store.all()) hashes.push(keyHash);
  return hashes;
}
