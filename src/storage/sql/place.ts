import { AppError } from '../../lib/errors.js';

/** How many keys can have hashes with the same first 60 bits. */
export const nearKeys = 8;

/** Before the place of every key. */
export const beforeAllKeys = -1n;

/** Whether a text can be the hash of a key: whole bytes in lower-case hex digits. No other text is stored. */
export function isKeyHash(text: string): boolean {
  return text.length >= 2 && text.length <= 128 && /^(?:[\da-f]{2})+$/.test(text);
}

/**
 * The number of the row of the key with this hash: the first 60 bits of the hash, followed by three bits that are 0 unless
 * other keys share the former. The order of the rows is the order of the hashes, also for hashes of 32 bits. A text that is
 * no hash, such as one of a made-up cursor, has the place between the hashes before and after it.
 */
export function placeOf(keyHash: string): bigint {
  const [digits = ''] = /^[\da-f]{0,15}/.exec(keyHash) ?? [];
  const next = digits.length < 15 ? keyHash.charAt(digits.length) : '';
  // Other characters are before all digits, between 9 and a, or after all digits.
  const known = next > '9' && next < 'a' ? `${digits}9` : digits;
  return BigInt(`0x${known.padEnd(15, next > '9' ? 'f' : '0')}`) * BigInt(nearKeys);
}

/** The values of hashes for `Dialect.hashes`, each once: a join would repeat the rows of a hash that is wanted twice. */
export function placesOf(keyHashes: readonly string[]): string {
  return JSON.stringify([...new Set(keyHashes)].map((keyHash) => [keyHash, String(placeOf(keyHash))]));
}

/** The error for a new key when as many as possible have hashes that begin as its own. */
export function tooManyNear(): AppError {
  return new AppError('CONFLICT', 'Too many keys have a hash with the same beginning; choose another key identifier.');
}
