import { describe, expect, it } from 'vitest';
import { integerOf, isInt64, maxInt64, mayBeRoundedInt64, minInt64 } from '../../../src/lib/int64.js';

describe('a signed 64-bit integer', () => {
  it.each([0n, 1n, -1n, 2n ** 53n, maxInt64, minInt64])('can be %s', (value) => {
    expect(isInt64(value)).toBe(true);
  });

  it.each([2n ** 63n, -(2n ** 63n) - 1n, 2n ** 64n])('cannot be %s', (value) => {
    expect(isInt64(value)).toBe(false);
  });

  it('may be rounded to 2^63, and to nothing beyond it', () => {
    expect([2 ** 63, -(2 ** 63), maxInt64].map(mayBeRoundedInt64)).toEqual([true, true, true]);
    expect(mayBeRoundedInt64(2 ** 63 + 2 ** 11)).toBe(false);
  });

  it('is read from numbers without a fraction only', () => {
    expect([5, 5n, -0].map(integerOf)).toEqual([5n, 5n, 0n]);
    expect([5.5, NaN, Infinity, '5', null].map(integerOf)).toEqual(Array(5).fill(undefined));
  });
});
