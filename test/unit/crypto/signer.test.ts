import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createMemoryKeyRing, type KeyRing } from '../../../src/crypto/key-ring.js';
import { createSealer } from '../../../src/crypto/encryption.js';
import { createRowSigner } from '../../../src/crypto/row-signer.js';

const now = new Date('2026-01-31T12:00:00Z');
const ring = createMemoryKeyRing(now);
const signer = createRowSigner(() => ring);

/** A ring that holds the keys of another under other ids, the last of them active. */
function ringOf(keys: Record<string, KeyRing>): KeyRing {
  const ids = Object.keys(keys);
  return {
    ids,
    primaryID: ids.at(-1) ?? '',
    keyOf: (id) => {
      const own = keys[id];
      if (!own) throw new Error('The key ring has no such key.');
      return own.keyOf('k1');
    },
  };
}

describe('a signature', () => {
  it('is authentic for its text', () => {
    for (const text of ['', 'a', 'ä🔑', '\u0000', 'x'.repeat(100_000)]) {
      expect(signer.isAuthentic(text, signer.sign(text))).toBe(true);
    }
  });

  it('is authentic for no other text', () => {
    const signature = signer.sign('keys|t1:a|i5');
    for (const text of ['', 'keys|t1:a|i6', 'keys|t1:a|i5 ', 'Keys|t1:a|i5', 'audit|t1:a|i5']) {
      expect(signer.isAuthentic(text, signature)).toBe(false);
    }
  });

  it('is not authentic with a changed bit, truncated or extended', () => {
    const signature = signer.sign('text');
    for (let bit = 0; bit < signature.length * 8; bit += 1) {
      const changed = Uint8Array.from(signature);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(signer.isAuthentic('text', changed)).toBe(false);
    }
    for (let length = 0; length < signature.length; length += 1) {
      expect(signer.isAuthentic('text', signature.subarray(0, length))).toBe(false);
    }
    expect(signer.isAuthentic('text', Uint8Array.from([...signature, 0]))).toBe(false);
  });

  it('is authentic until its key is removed from the ring', () => {
    const [first, second] = [createMemoryKeyRing(now), createMemoryKeyRing(now)];
    let current = ringOf({ k1: first });
    const one = createRowSigner(() => current);
    const old = one.sign('text');
    expect(old.subarray(0, 4)).toStrictEqual(one.currentHead());
    current = ringOf({ k1: first, k2: second });
    expect(one.isAuthentic('text', old)).toBe(true);
    expect(old.subarray(0, 4)).not.toStrictEqual(one.currentHead());
    const fresh = one.sign('text');
    expect(fresh.subarray(0, 4)).toStrictEqual(one.currentHead());
    current = ringOf({ k2: second });
    expect(one.isAuthentic('text', old)).toBe(false);
    expect(one.isAuthentic('text', fresh)).toBe(true);
  });

  it('of another ring is not authentic, even with the same key ID', () => {
    const other = createRowSigner(() => createMemoryKeyRing(now));
    expect(signer.isAuthentic('text', other.sign('text'))).toBe(false);
  });

  it('uses no encryption key, and shows none', () => {
    const sealed = createSealer(() => ring).seal('text', 'place');
    expect(signer.isAuthentic('text', sealed)).toBe(false);
    const key = ring.keyOf('k1').export().toString('base64');
    expect(inspect(signer, { depth: 9, showHidden: true })).not.toContain(key);
    expect(Buffer.from(signer.sign('text')).toString('base64')).not.toContain(key);
  });
});
