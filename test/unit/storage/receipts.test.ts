import { describe, expect, it } from 'vitest';
import { createSealer } from '../../../src/crypto/encryption.js';
import { createMemoryKeyRing } from '../../../src/crypto/key-ring.js';
import { createReceiptCodec } from '../../../src/storage/sql/keys/receipts.js';

const ring = createMemoryKeyRing(new Date(0));
const codec = createReceiptCodec(
  createSealer(() => ring),
  () => ring,
);
const content = { at: new Date(5), bytes: Uint8Array.of(1, 255), big: 9007199254740993n, none: undefined, text: 'ü' };

describe('a receipt', () => {
  it('opens as it was sealed, with dates, bytes and large integers', () => {
    expect(codec.open(codec.seal(content, 'a'), 'a')).toStrictEqual(content);
  });

  it('does not open as the receipt of another request', () => {
    const sealed = codec.seal(content, 'a');
    expect(() => codec.open(sealed, 'b')).toThrow(expect.objectContaining({ code: 'INTERNAL' }));
  });

  it('has a digest of 64 hex digits, which is the same for equal requests only', () => {
    const digest = codec.digest({ keyID: 'k1', quotaMax: 5n });
    expect(digest).toMatch(/^[\da-f]{64}$/);
    expect(codec.digest({ keyID: 'k1', quotaMax: 5n })).toBe(digest);
    expect(codec.digest({ keyID: 'k1', quotaMax: 6n })).not.toBe(digest);
  });

  it('names whether the key that sealed it is in the ring', () => {
    const sealed = codec.seal(content, 'a');
    expect(codec.isKeyRemoved(sealed)).toBe(false);
    const later = createReceiptCodec(
      createSealer(() => ring),
      () => ({ ids: ['k2'] }),
    );
    expect(later.isKeyRemoved(sealed)).toBe(true);
  });
});
