import { createHmac, createSecretKey, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { KeyRing } from './key-ring.js';

/** Tells text that we wrote from any other. Nobody without the key ring can make a signature. */
export interface RowSigner {
  /** Uses the active key. The signature names it, so that rotation leaves older ones valid until their key is dropped. */
  readonly sign: (content: string) => Uint8Array;
  /** False for other text, another signature, and a key that has left the ring. */
  readonly isAuthentic: (content: string, signature: Uint8Array) => boolean;
  /** What every signature under the active key begins with. */
  readonly currentHead: () => Uint8Array;
}

const version = 1;
const tagBytes = 32;
const purpose = 'keyfront row signatures';

/** HMAC-SHA-256 under keys derived from those of the ring, which is asked for at every call. */
export function createRowSigner(ring: () => KeyRing): RowSigner {
  const derived = new WeakMap<KeyRing, Map<string, KeyObject>>();

  function keyOf(current: KeyRing, id: string): KeyObject {
    const keys = derived.get(current) ?? new Map<string, KeyObject>();
    derived.set(current, keys);
    // Sealing and signing must not share a key: what one of them gives away could serve against the other.
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
      return Buffer.concat([headOf(current.activeID), tagOf(current, current.activeID, content)]);
    },
    isAuthentic(content, signature) {
      const [first, idBytes = 0] = signature;
      if (first !== version || signature.length !== 2 + idBytes + tagBytes) return false;
      const id = Buffer.from(signature.subarray(2, 2 + idBytes)).toString('utf8');
      const current = ring();
      return current.ids.includes(id) && timingSafeEqual(tagOf(current, id, content), signature.subarray(2 + idBytes));
    },
    currentHead: () => headOf(ring().activeID),
  };
}

/** Version, length of the key id, key id. */
function headOf(keyID: string): Buffer {
  const id = Buffer.from(keyID, 'utf8');
  return Buffer.concat([Uint8Array.of(version, id.length), id]);
}
