import type { TestApp } from './app.js';
import type { StoredKey, KeyRevision } from '../../src/keys/key.js';

export interface State {
  readonly key: StoredKey | undefined;
  readonly audit: KeyRevision[];
}

/** Reads everything that is stored of a key. A rejected request must not change it. */
export async function stateOf({ app: { services: installation } }: TestApp, keyID: string): Promise<State> {
  const keyHash = installation.ports.hashKeyID(keyID);
  return { key: await installation.store.find(keyHash), audit: await installation.store.historyOf(keyHash) };
}

/** Reads the hashes of all keys, which show whether a request has created a key. */
export async function allHashes({ app: { services: installation } }: TestApp): Promise<string[]> {
  const hashes: string[] = [];
  for await (const { keyHash } of installation.store.all()) hashes.push(keyHash);
  return hashes;
}
