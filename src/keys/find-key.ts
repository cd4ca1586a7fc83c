import { errorCodeOf } from '../lib/errors.js';
import { hasIdentifier, isNamedBy } from './identifiers.js';
import type { StoredKey } from './key.js';
import type { Ports } from './ports.js';

/** What a request names a key by. */
export interface KeyName {
  readonly hash: string;
  /** Whether this is the hash of an identifier that a client has. Otherwise the key's own hash names it as well. */
  readonly isIdentifier: boolean;
}

type Lookup = Pick<Ports, 'now'> & { readonly store: Pick<Ports['store'], 'find' | 'namesOf'> };

/** Returns the key that a request names, even if it is deleted. Parameters as for `KeyStore.find`. */
export async function findNamed({ store, now }: Lookup, name: KeyName, orgID?: string): Promise<StoredKey | undefined> {
  const { hash } = name;
  const found = await findByHash(store, hash, orgID);
  return found && isNamed(found, name, now()) ? found : undefined;
}

/** Returns the key whose own hash this is, or that of an identifier which it has or just had. Parameters as for `KeyStore.find`. */
export async function findByHash(store: Lookup['store'], hash: string, orgID?: string): Promise<StoredKey | undefined> {
  const found = await store.find(hash, orgID);
  if (found) return found;
  const keyHash = (await store.namesOf([hash], orgID)).get(hash);
  return keyHash === undefined ? undefined : store.find(keyHash, orgID);
}

function isNamed(key: StoredKey, { hash, isIdentifier }: KeyName, now: Date): boolean {
  return isIdentifier ? hasIdentifier(key, hash, now) : isNamedBy(key, hash, now);
}

/**
 * Runs work for the key that a request names, with the key's own hash and a store that finds the key by this name only. Most
 * names are own hashes. So the work runs first with the given one, and again if it finds no key and the hash is that of another
 * identifier.
 *
 * @throws what the work throws. It must throw NOT_FOUND if there is no key.
 */
export async function forNamedKey<T>(
  ports: Ports,
  name: KeyName,
  orgID: string | undefined,
  work: (ports: Ports, keyHash: string) => Promise<T>,
): Promise<T> {
  const { store, now } = ports;
  const shown = (key: StoredKey | undefined) => (key && isNamed(key, name, now()) ? key : undefined);
  const narrowed: Ports = {
    ...ports,
    store: {
      ...store,
      find: async (...args) => shown(await store.find(...args)),
      update: (keyHash, change, ofOrg) => store.update(keyHash, (stored) => change(shown(stored)), ofOrg),
    },
  };
  try {
    return await work(narrowed, name.hash);
  } catch (error) {
    if (errorCodeOf(error) !== 'NOT_FOUND') throw error;
    const keyHash = (await store.namesOf([name.hash], orgID)).get(name.hash);
    if (keyHash === undefined || keyHash === name.hash) throw error;
    return work(narrowed, keyHash);
  }
}
