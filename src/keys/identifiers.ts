import type { RetiringIdentifier, StoredKey } from './key.js';

/** The hash of the identifier of a key. */
export function identifierHashOf({ keyHash, identifiers }: StoredKey): string {
  return identifiers?.current ?? keyHash;
}

/** The rotation that runs at this time: the identifier that is going to retire. */
export function rotationOf({ identifiers }: StoredKey, now: Date): RetiringIdentifier | undefined {
  const retiring = identifiers?.retiring;
  return retiring && now < retiring.retiresAt ? retiring : undefined;
}

/** Whether this is the hash of an identifier of the key at this time. The first one may have retired. */
export function hasIdentifier(key: StoredKey, hash: string, now: Date): boolean {
  return identifierHashOf(key) === hash || rotationOf(key, now)?.keyHash === hash;
}

/** Whether this hash names the key at this time: its own, which never changes, or that of an identifier. */
export function isNamedBy(key: StoredKey, hash: string, now: Date): boolean {
  return key.keyHash === hash || hasIdentifier(key, hash, now);
}

/** The identifiers as fields of the history. */
export function identifierFields({ keyHash, identifiers }: StoredKey): object {
  if (!identifiers) return { identifierHash: keyHash };
  const { current, retiring } = identifiers;
  return {
    identifierHash: current,
    ...(retiring && { oldIdentifierHash: retiring.keyHash, retiresAt: retiring.retiresAt.toISOString() }),
  };
}
