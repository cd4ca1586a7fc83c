import { expect } from 'vitest';
import type { StoredKey, KeyRevision } from '../../src/keys/key.js';
import type { TestApp } from './app.js';
import { collect } from './collect.js';

export interface State {
  readonly key: StoredKey | undefined;
  readonly audit: KeyRevision[];
}

/** Reads everything that is stored of a key. */
export async function stateOf({ app: { services: installation } }: TestApp, keyID: string): Promise<State> {
  const keyHash = installation.ports.hashKeyID(keyID);
  return { key: await installation.store.find(keyHash), audit: await installation.store.historyOf(keyHash) };
}

/** Reads the hashes of all keys. */
export async function allHashes({ app: { services: installation } }: TestApp): Promise<string[]> {
  return (await collect(installation.store.all())).map(({ keyHash }) => keyHash);
}

/** Sends a request, such as one that must be rejected, and asserts that it neither changes nor creates a key. */
export async function expectNoChange<T>(t: TestApp, request: () => Promise<T>): Promise<T> {
  const { store } = t.app.services;
  const everything = async () => {
    const keys = await collect(store.all());
    const intact = keys.flatMap(({ key }) => key ?? []);
    const histories = await Promise.all(keys.map(({ keyHash }) => store.historyOf(keyHash)));
    return { keys, histories, notices: await store.noticesOf(intact, 100) };
  };
  const before = await everything();
  const response = await request();
  expect(await everything()).toStrictEqual(before);
  return response;
}
