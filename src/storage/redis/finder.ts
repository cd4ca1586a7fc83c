import type { KeyStore, StoredKey } from '../../keys/store.js';

interface Asking {
  readonly resolve: (key: StoredKey | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Finds keys as the store does, with one look for all who ask at about the same time. */
export function createFinder(store: Pick<KeyStore, 'find' | 'findMany'>): KeyStore['find'] {
  let waiting = new Map<string, Asking[]>();

  async function findOne(keyHash: string, asking: readonly Asking[]): Promise<void> {
    try {
      const found = await store.find(keyHash);
      for (const { resolve } of asking) resolve(found);
    } catch (error) {
      for (const { reject } of asking) reject(error);
    }
  }

  async function findWaiting(): Promise<void> {
    const asked = [...waiting];
    waiting = new Map();
    const [first] = asked;
    if (first && asked.length === 1) return findOne(...first);
    try {
      const keys = await store.findMany(asked.map(([keyHash]) => keyHash));
      const found = new Map(keys.map((key) => [key.keyHash, key]));
      for (const [keyHash, asking] of asked) for (const { resolve } of asking) resolve(found.get(keyHash));
    } catch {
      // One that is damaged must not keep the others from being found.
      await Promise.all(asked.map(([keyHash, asking]) => findOne(keyHash, asking)));
    }
  }

  return (keyHash) =>
    new Promise((resolve, reject) => {
      if (waiting.size === 0) setImmediate(() => void findWaiting());
      waiting.set(keyHash, [...(waiting.get(keyHash) ?? []), { resolve, reject }]);
    });
}
