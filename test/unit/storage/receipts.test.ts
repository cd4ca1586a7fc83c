import { describe, expect, it } from 'vitest';
import { createSealer } from '../../../src/crypto/encryption.js';
import { createMemoryKeyRing } from '../../../src/crypto/key-ring.js';
import type { Receipt } from '../../../src/keys/receipt.js';
import { createReceiptCodec } from '../../../src/storage/sql/keys/receipts.js';

const ring = createMemoryKeyRing(new Date(0));
const sealer = createSealer(() => ring, 'derived');
const codec = createReceiptCodec(sealer, () => ring);
const content = {
  result: new Date(5),
  bytes: Uint8Array.of(1, 255),
  big: 9007199254740993n,
  none: undefined,
  text: 'ü',
};
const of = { id: 'a', at: new Date(7) };
const sealed = codec.seal(content, of);

const damaged = (id: string) =>
  expect.objectContaining({
    code: 'INTERNAL',
    message: `The receipt ${id} failed its integrity check; run \`keyfront check\` for details.`,
    cause: expect.any(Error) as Error,
  }) as Error;

describe('a receipt', () => {
  it('opens as it was sealed, with dates, bytes and large integers', () => {
    expect(codec.open({ ...of, sealed })).toStrictEqual({ ...content, at: 7 });
  });

  it.each<[string, Partial<Receipt>]>([
    ['of another request', { id: 'b' }],
    ['of another time', { at: new Date(8) }],
    ['with other bytes', { sealed: Uint8Array.of(...sealed.subarray(0, -1), (sealed.at(-1) ?? 0) ^ 1) }],
    ['without bytes', { sealed: new Uint8Array() }],
  ])('does not open as one %s, and the error names it', (_, changes) => {
    const receipt = { ...of, sealed, ...changes };
    expect(() => codec.open(receipt)).toThrow(damaged(receipt.id));
  });

  it('opens as version 0.2.0 has sealed it: without its time, under the key of the ring', async () => {
    const { serialize } = await import('node:v8');
    const old = createSealer(() => ring).seal(serialize({ fingerprint: 'f' }).toString('base64'), 'receipts|a');
    expect(codec.open({ ...of, sealed: old })).toStrictEqual({ fingerprint: 'f' });
    expect(() => codec.open({ ...of, id: 'b', sealed: old })).toThrow(damaged('b'));
  });

  it('has a digest of 64 hex digits, which is the same for equal requests only', () => {
    const digest = codec.digest({ keyID: 'k1', quotaMax: 5n });
    expect(digest).toMatch(/^[\da-f]{64}$/);
    expect(codec.digest({ keyID: 'k1', quotaMax: 5n })).toBe(digest);
    expect(codec.digest({ keyID: 'k1', quotaMax: 6n })).not.toBe(digest);
  });

  it('names whether the key that sealed it is in the ring', () => {
    expect(codec.isKeyRemoved({ ...of, sealed })).toBe(false);
    const later = createReceiptCodec(sealer, () => ({ ids: ['k2'] }));
    expect(later.isKeyRemoved({ ...of, sealed })).toBe(true);
    expect(() => later.isKeyRemoved({ ...of, sealed: Uint8Array.of(9) })).toThrow(damaged('a'));
  });
});
