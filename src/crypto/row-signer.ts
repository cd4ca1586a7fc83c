import { createHmac, createSecretKey, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { KeyRing } from './key-ring.js';

/** Signs rows with a MAC under keys of the key ring, and verifies them. */
export interface RowSigner {
  /** Returns a signature under the primary key. It names its key, so that it stays valid until that key is removed. */
  readonly sign: (content: string) => Uint8Array;
  /** Returns false if text and signature do not match, or the key is not in the ring. */
  readonly isAuthentic: (content: string, signature: Uint8Array) => boolean;
  /** The prefix of all signatures under the primary key. */
  readonly currentHead: () => Uint8Array;
  /** The ring that is used now. What `isAuthentic` returned is valid as long as it is the same object. */
  readonly ring: () => object;
}

const version = 1;
const tagBytes = 32;
const purpose = 'keyfront row signatures';

/** Creates a signer with HMAC-SHA-256, under keys derived from those of the ring, which it reads at every call. */
export function createRowSigner(ring: () => KeyRing): RowSigner {
  const derived = new WeakMap<KeyRing, Map<string, KeyObject>>();

  function keyOf(current: KeyRing, id: string): KeyObject {
    const keys = derived.get(current) ?? new Map<string, KeyObject>();
    derived.set(current, keys);
    // Encryption and signing must not share a key, because a leak of one would weaken the other.
    const key =
      keys.get(id) ?? createSecretKey(Buffer.from(hkdfSync('sha256', current.keyOf(id), '', purpose, tagBytes)));
    keys.set(id, key);
    return key;
  }

  const tagOf = (current: KeyRing, id: string, content: string) =>
    createHmac('sha256', keyOf(current, id)).update(content, 'utf8').digest();

  return {
    sign(content) {
      const current = ring();
      return Buffer.concat([headOf(current.primaryID), tagOf(current, current.primaryID, content)]);
    },
    isAuthentic(content, signature) {
      const [first, idBytes = 0] = signature;
      if (first !== version || signature.length !== 2 + idBytes + tagBytes) return false;
      const id = Buffer.from(signature.subarray(2, 2 + idBytes)).toString('utf8');
      const current = ring();
      return current.ids.includes(id) && timingSafeEqual(tagOf(current, id, content), signature.subarray(2 + idBytes));
    },
    currentHead: () => headOf(ring().primaryID),
    ring,
  };
}

/** Version, length of the key ID, key ID. */
function headOf(keyID: string): Buffer {
  const id = Buffer.from(keyID, 'utf8');
  return Buffer.concat([Uint8Array.of(version, id.length), id]);
}
