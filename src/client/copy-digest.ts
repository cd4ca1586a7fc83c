/** The digest of a copy of keys, kept while keys are stored and removed. */
export interface CopyDigest {
  /** Notes that the copy has this version of a key, in place of another one. */
  readonly put: (keyHash: string, version: number) => void;
  /** Notes that the copy does not have the key. */
  readonly remove: (keyHash: string) => void;
  /** The digest of all keys: 64 hex digits. */
  readonly value: () => string;
}

const modulus = 1n << 256n;

const toHex = (sum: bigint) => sum.toString(16).padStart(64, '0');

/** Adds the digests of parts, as those of `keyDigest`, to that of the whole. */
export function addDigests(digests: Iterable<string>): string {
  let sum = 0n;
  for (const digest of digests) sum += BigInt(`0x${digest}`);
  return toHex(sum % modulus);
}

/**
 * Keeps the digest of a copy: the sum modulo 2^256 of the SHA-256 of each key, of its `keyHash`, a colon and its `version`.
 * Holds the version of each key in memory.
 *
 * @param sha256 - returns the hash of a text in hex, as `createHash('sha256').update(text).digest('hex')` of Node.js does
 */
export function createCopyDigest(sha256: (text: string) => string): CopyDigest {
  const versions = new Map<string, number>();
  let sum = 0n;
  const add = (keyHash: string, version: number, sign: bigint) => {
    sum = (sum + modulus + sign * BigInt(`0x${sha256(`${keyHash}:${version}`)}`)) % modulus;
  };
  const remove = (keyHash: string) => {
    const version = versions.get(keyHash);
    if (version !== undefined) add(keyHash, version, -1n);
    versions.delete(keyHash);
  };
  return {
    put: (keyHash, version) => {
      remove(keyHash);
      versions.set(keyHash, version);
      add(keyHash, version, 1n);
    },
    remove,
    value: () => toHex(sum),
  };
}
