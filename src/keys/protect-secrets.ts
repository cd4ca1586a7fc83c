import { isHashType, type HashType } from './definition/field-rules.js';
import type { SecretChanges } from './definition/normalize.js';
import type { StoredKey, StoredSecrets } from './key.js';

/** How secrets are protected before they are stored. */
export interface SecretProtectionDeps {
  /**
   * Returns a salted, slow hash.
   *
   * @throws {AppError} UNAVAILABLE when too many passwords wait to be hashed.
   */
  readonly hashPassword: (password: string, type: HashType) => Promise<string>;
  /** Encrypts a secret and authenticates it together with `aad`, so that it opens with the same `aad` only. */
  readonly seal: (plaintext: string, aad: string) => Uint8Array;
}

/** Secrets ready for storage: undefined to keep the stored one, null to clear it. */
export type ProtectedSecrets = { readonly [K in keyof StoredSecrets]?: StoredSecrets[K] | null };

/** The associated data of a sealed value: binds it to one member of one key. */
export function aadFor(keyHash: string, secret: 'keyID' | 'jwtSecret' | 'hmacString'): string {
  return `keys|${keyHash}|${secret}`;
}

/**
 * Opens the identifier of a key. Undefined if only its hash is known, as for a key that was imported without its identifier: its
 * sealed text is empty.
 *
 * @throws {AppError} INTERNAL when it cannot be opened.
 */
export function openKeyID(
  { open }: { readonly open: (sealed: Uint8Array, aad: string) => string },
  keyHash: string,
  sealedKeyID: Uint8Array,
): string | undefined {
  return open(sealedKeyID, aadFor(keyHash, 'keyID')) || undefined;
}

/** The sealed values of a key, each with its associated data. */
export function sealedSecretsOf({ keyHash, sealedKeyID, identifiers, secrets: { jwtSecret, hmacString } }: StoredKey) {
  const sealed = [
    ['keyID', sealedKeyID],
    // An identifier keeps its seal when it becomes the one that retires, and back.
    ['keyID', identifiers?.retiring?.sealedKeyID],
    ['jwtSecret', jwtSecret],
    ['hmacString', hmacString],
  ] as const;
  return sealed.flatMap(([name, value]) => (value ? [{ name, sealed: value, aad: aadFor(keyHash, name) }] : []));
}

/**
 * Hashes the password, and seals the other secrets for the key with this hash.
 *
 * @throws {AppError} UNAVAILABLE when too many passwords wait to be hashed.
 */
export async function protectSecrets(
  { hashPassword, seal }: SecretProtectionDeps,
  keyHash: string,
  { password, jwtSecret, hmacString }: SecretChanges,
  hashType: string | null | undefined,
): Promise<ProtectedSecrets> {
  const type = hashType && isHashType(hashType) ? hashType : 'bcrypt';
  const sealed = (secret: 'jwtSecret' | 'hmacString', value: string | null) =>
    value === null ? null : seal(value, aadFor(keyHash, secret));
  return {
    ...(password !== undefined && { passwordHash: password === null ? null : await hashPassword(password, type) }),
    ...(jwtSecret !== undefined && { jwtSecret: sealed('jwtSecret', jwtSecret) }),
    ...(hmacString !== undefined && { hmacString: sealed('hmacString', hmacString) }),
  };
}
