import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { AppError } from '../lib/errors.js';
import type { KeyRing } from './key-ring.js';
import { randomBytesOf } from './random.js';

/**
 * Authenticated encryption of secrets at rest. `aad` is the associated data, such as "keys|<keyHash>|hmacString". It is
 * not stored, and a sealed secret opens only with the same associated data.
 */
export interface Sealer {
  /**
   * Encrypts a secret under the primary key.
   *
   * @throws {AppError} INVALID for a text with lone surrogates, which UTF-8 cannot represent.
   */
  seal(plaintext: string, aad: string): Uint8Array;
  /**
   * Decrypts a sealed secret.
   *
   * @throws {AppError} INTERNAL when the bytes were altered, the associated data differs, or the key is not in the ring.
   */
  open(sealed: Uint8Array, aad: string): string;
  /**
   * Returns the ID of the key that sealed the secret, without opening it.
   *
   * @throws {AppError} INTERNAL for other bytes.
   */
  keyIDOf(sealed: Uint8Array): string;
}

/** The first byte of a sealed secret: which key encrypts it. */
const versions = {
  /** The key of the ring itself. Random nonces are safe for about 2^32 seals, far more than definitions and webhooks need. */
  ring: 1,
  /** A key for this associated data, derived from that of the ring, so that any number of receipts may be sealed. */
  derived: 2,
};
const nonceBytes = 12;
const tagBytes = 16;
const algorithm = 'aes-256-gcm';
const options = { authTagLength: tagBytes };
const keyBytes = 32;
const purpose = 'keyfront derived keys';

/**
 * Creates a sealer with AES-256-GCM. It reads the ring at every call, so that a rotation takes effect without a restart.
 *
 * @param kind - the kind of key that seals; every sealer opens both
 */
export function createSealer(ring: () => KeyRing, kind: keyof typeof versions = 'ring'): Sealer {
  return {
    seal(plaintext, aad) {
      if (!plaintext.isWellFormed()) throw new AppError('INVALID', 'A secret must be well-formed Unicode text.');
      const current = ring();
      const version = versions[kind];
      const header = headerOf(version, current.primaryID);
      const nonce = randomBytesOf(nonceBytes);
      const cipher = createCipheriv(algorithm, keyOf(current, version, current.primaryID, aad), nonce, options);
      cipher.setAAD(aadBytes(header, aad));
      const body = [cipher.update(plaintext, 'utf8'), cipher.final()];
      return Buffer.concat([header, nonce, ...body, cipher.getAuthTag()]);
    },
    open: (sealed, aad) =>
      rethrowAsInternal(() => {
        const { version, header, keyID, nonce, body, tag } = partsOf(sealed);
        const decipher = createDecipheriv(algorithm, keyOf(ring(), version, keyID, aad), nonce, options);
        decipher.setAAD(aadBytes(header, aad));
        decipher.setAuthTag(tag);
        return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
      }),
    keyIDOf: (sealed) => rethrowAsInternal(() => partsOf(sealed).keyID),
  };
}

function keyOf(ring: KeyRing, version: number, keyID: string, aad: string): KeyObject {
  const key = ring.keyOf(keyID);
  if (version === versions.ring) return key;
  return createSecretKey(Buffer.from(hkdfSync('sha256', key, '', `${purpose}|${aad}`, keyBytes)));
}

/** Version, length of the key ID, key ID. The length separates the ID from the associated data that follows. */
function headerOf(version: number, keyID: string): Buffer {
  const id = Buffer.from(keyID, 'utf8');
  if (id.length > 255) throw new Error('The ID of an encryption key must have at most 255 bytes.');
  return Buffer.concat([Uint8Array.of(version, id.length), id]);
}

function aadBytes(header: Uint8Array, aad: string): Buffer {
  return Buffer.concat([header, Buffer.from(aad, 'utf8')]);
}

/** The layout: header | 12-byte nonce | ciphertext | 16-byte tag. */
function partsOf(sealed: Uint8Array) {
  const [version = 0, idBytes = 0] = sealed;
  if (!Object.values(versions).includes(version)) throw new Error('The sealed secret has an unknown version.');
  const headerEnd = 2 + idBytes;
  const nonceEnd = headerEnd + nonceBytes;
  const tagStart = sealed.length - tagBytes;
  if (tagStart < nonceEnd) throw new Error('The sealed secret is too short.');
  return {
    version,
    header: sealed.subarray(0, headerEnd),
    keyID: Buffer.from(sealed.subarray(2, headerEnd)).toString('utf8'),
    nonce: sealed.subarray(headerEnd, nonceEnd),
    body: sealed.subarray(nonceEnd, tagStart),
    tag: sealed.subarray(tagStart),
  };
}

function rethrowAsInternal<T>(action: () => T): T {
  try {
    return action();
  } catch (cause) {
    throw new AppError('INTERNAL', 'A stored secret could not be opened.', { cause });
  }
}
