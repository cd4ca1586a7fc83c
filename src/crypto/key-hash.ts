import { createHmac, createSecretKey, hash } from 'node:crypto';
import { hasEscapedName, parseJSON } from '../lib/json.js';
import { murmur128, murmur32Legacy, murmur64 } from './murmur.js';

/** The values of KEYFRONT_KEY_HASH. The murmur hashes are for compatibility with gateways and are not cryptographic. */
export const keyHashAlgorithms = ['sha256', 'hmac-sha256', 'murmur32', 'murmur64', 'murmur128'] as const;

/** One of {@link keyHashAlgorithms}. */
export type KeyHashAlgorithm = (typeof keyHashAlgorithms)[number];

type Digest = (data: Uint8Array) => string;

const pepperBytes = 32;

const sha256: Digest = (data) => hash('sha256', data, 'hex');

/** The algorithms that a token can name in `h`. A Map, so that a name such as "constructor" has no match. */
const tokenDigests: ReadonlyMap<unknown, Digest> = new Map([
  ['murmur32', murmur32Legacy],
  ['murmur64', murmur64],
  ['murmur128', murmur128],
  ['sha256', sha256],
]);

/** How many hex digits the hashes of identifiers can have that another system computed with the same algorithm. */
export function foreignHashLengths(algorithm: KeyHashAlgorithm): readonly number[] {
  // The pepper is ours.
  if (algorithm === 'hmac-sha256') return [];
  return algorithm === 'sha256' ? [64] : [8, 16, 32, 64];
}

/**
 * Creates the function that hashes a key identifier to lower-case hex. Murmur is not cryptographic: identifiers can be
 * computed from their hashes, and two can have the same one. Use it only to keep the hashes of existing gateways.
 *
 * @param pepper - the secret of hmac-sha256; the other algorithms ignore it
 * @throws {Error} when hmac-sha256 has no pepper of at least 32 bytes.
 */
export function createKeyHash(algorithm: KeyHashAlgorithm, pepper?: string | Uint8Array): (keyID: string) => string {
  switch (algorithm) {
    // The cryptographic algorithms apply to every identifier. If a token could choose its algorithm, its author could
    // choose a weak hash in spite of the setting.
    case 'sha256':
      return digestUTF8(sha256);
    case 'hmac-sha256':
      return digestUTF8(createHmacDigest(pepper));
    case 'murmur32':
      return createTokenAware(murmur32Legacy);
    case 'murmur64':
      return createTokenAware(murmur64);
    case 'murmur128':
      return createTokenAware(murmur128);
  }
}

function digestUTF8(digest: Digest): (keyID: string) => string {
  return (keyID) => digest(Buffer.from(keyID, 'utf8'));
}

function createHmacDigest(pepper: string | Uint8Array = ''): Digest {
  const bytes = Buffer.from(pepper);
  if (bytes.length < pepperBytes) {
    throw new Error(`The key hash hmac-sha256 needs KEYFRONT_KEY_HASH_PEPPER with at least ${pepperBytes} bytes.`);
  }
  const key = createSecretKey(bytes);
  return (data) => createHmac('sha256', key).update(data).digest('hex');
}

function createTokenAware(configured: Digest): (keyID: string) => string {
  return (keyID) => {
    const named = algorithmInToken(keyID);
    const digest = named === undefined ? configured : (tokenDigests.get(named) ?? murmur32Legacy);
    return digest(Buffer.from(keyID, 'utf8'));
  };
}

/** Returns the `h` of an identifier in the base64 JSON form; undefined for every other identifier. */
function algorithmInToken(keyID: string): string | undefined {
  // Node's decoder ignores invalid characters, and gateways reject them, such as those of a JWT.
  if (!keyID.startsWith('ey') || keyID.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(keyID)) return undefined;
  try {
    const text = Buffer.from(keyID, 'base64').toString('utf8');
    // JSON.parse parses other text as gateways do: the last of two members with one name is used.
    const token: unknown = hasEscapedName(text) ? parseJSON(text) : JSON.parse(text);
    return isToken(token) ? token.h : undefined;
  } catch {
    return undefined;
  }
}

function isToken(value: unknown): value is { org: string; id: string; h: string } {
  if (typeof value !== 'object' || value === null) return false;
  if (!('org' in value && 'id' in value && 'h' in value)) return false;
  return typeof value.org === 'string' && typeof value.id === 'string' && typeof value.h === 'string';
}
