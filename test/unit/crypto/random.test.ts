import { describe, expect, it } from 'vitest';
import { randomBytesOf } from '../../../src/crypto/random.js';

describe('randomBytesOf', () => {
  it('returns bytes that no other call returns, and that no later call changes', () => {
    const given = Array.from({ length: 2_000 }, () => randomBytesOf(12));
    const first = given.map((bytes) => bytes.toString('hex'));
    expect(new Set(first).size).toBe(2_000);
    expect(given.every((bytes) => bytes.length === 12)).toBe(true);
    for (let call = 0; call < 1_000; call += 1) randomBytesOf(16);
    expect(given.map((bytes) => bytes.toString('hex'))).toEqual(first);
  });
});
