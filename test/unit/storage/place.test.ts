import { describe, expect, it } from 'vitest';
import { isKeyHash, placeOf, placesOf } from '../../../src/storage/sql/place.js';
import { hashOf } from '../../support/factories.js';

describe('the place of a hash', () => {
  it('has the order of the hashes, also of those of 32 and 64 bits', () => {
    const hashes = Array.from({ length: 200 }, (_, name) => hashOf(name));
    for (const digits of [8, 16, 64]) {
      const sorted = hashes.map((hash) => hash.slice(0, digits)).toSorted();
      const places = sorted.map(placeOf);
      expect(places).toStrictEqual(places.toSorted((a, b) => (a < b ? -1 : 1)));
      expect(new Set(places).size).toBe(sorted.length);
    }
  });

  it('is a number of a row from the first hash to the last', () => {
    expect(placeOf('00000000')).toBe(0n);
    expect(placeOf('f'.repeat(64))).toBe(2n ** 63n - 8n);
    expect(placeOf('00000001')).toBe(2n ** 31n);
  });

  it.each([
    ['', '0'],
    ['8', '80'],
    ['1:', '19f'],
    ['1G', '19f'],
    ['1z', '1f'],
    ['1~', '1f'],
    ['1/', '10'],
  ])('of the text %j, which is no hash, is at %j', (text, at) => {
    const fill = /^1[9f]f?$/.test(at) && at !== '1f' ? 'f' : at === '1f' ? 'f' : '0';
    expect(placeOf(text)).toBe(placeOf(at.padEnd(16, fill)));
  });

  it('belongs to whole bytes in lower-case digits only', () => {
    for (const hash of ['00', hashOf(1), '00000000']) expect(isKeyHash(hash)).toBe(true);
    for (const text of ['', '0', 'AB', 'xy', `${hashOf(1)}\0`, 'a'.repeat(130)]) expect(isKeyHash(text)).toBe(false);
  });

  it('is sent as text, because JSON has no 64-bit integers', () => {
    expect(placesOf(['ff'.repeat(8)])).toBe('[["ffffffffffffffff","9223372036854775800"]]');
  });
});
