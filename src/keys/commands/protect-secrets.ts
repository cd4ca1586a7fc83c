import { isHashType, type HashType } from '../definition/field-rules.js';
import type { SecretChanges } from '../definition/normalize.js';
import type { StoredSecrets } from '../key.js';

/** How secrets are made fit for storage. */
export interface SecretProtectionDeps {
  /** A salted, slow hash. Rejects with UNAVAILABLE when too many wait. */
  readonly hashPassword: (password: string, type: HashType) => Promise<string>;
  /** Encrypts a secret for one place of storage only. */
  readonly seal: (plaintext: string, place: string) => Uint8Array;
}

/** Secrets ready for storage: undefined to keep what is stored, null to clear it. */
export type ProtectedSecrets = { readonly [K in keyof StoredSecrets]?: StoredSecrets[K] | null };

/** Names the only place where a sealed value opens again. */
export function aadFor(keyHash: string, secret: 'keyID' | 'jwtSecret' | 'hmacString'): string {
  return `keys|${keyHash}|${secret}`;
}

/** Hashes the password and seals the other two, for the key with this hash. */
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
