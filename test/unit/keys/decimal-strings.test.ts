import { describe, expect, it } from 'vitest';
import { decimalStringOf, keepStoredIntegers } from '../../../src/keys/definition/decimal-strings.js';

const big = 9007199254740993n;

describe('decimalStringOf', () => {
  it.each<[unknown, string | undefined]>([
    [big, '9007199254740993'],
    [-big, '-9007199254740993'],
    [2n ** 53n, '9007199254740992'],
    [2 ** 53, '9007199254740992'],
    [-(2 ** 63), '-9223372036854775808'],
    [2n ** 53n - 1n, undefined],
    [2 ** 53 - 1, undefined],
    [0.5, undefined],
    [Infinity, undefined],
    ['9007199254740993', undefined],
    [null, undefined],
  ])('of %s is %s', (value, text) => {
    expect(decimalStringOf(value)).toBe(text);
  });
});

describe('keepStoredIntegers', () => {
  it.each<[string, unknown, unknown, unknown]>([
    ['a bigint for its digits', big, '9007199254740993', big],
    ['a number beyond 2^53-1 for its digits', 2 ** 63, '9223372036854775808', 2 ** 63],
    ['the text for other digits', big, '9007199254740994', '9007199254740994'],
    ['the text for the digits of a smaller integer', 5, '5', '5'],
    ['the text where a text was stored', '9007199254740993', '9007199254740993', '9007199254740993'],
    ['the text where nothing was stored', undefined, '9007199254740993', '9007199254740993'],
    ['a number as it is', big, 5, 5],
    ['a number where an object was stored', { n: big }, 5, 5],
    ['null as it is', { n: big }, null, null],
    ['a list where null was stored', null, ['9007199254740993'], ['9007199254740993']],
    ['an object where null was stored', null, { n: '9007199254740993' }, { n: '9007199254740993' }],
    ['an object where a text was stored', 'x', { length: '1' }, { length: '1' }],
    ['the integer of a member', { n: big, m: 1 }, { m: 2, n: '9007199254740993' }, { m: 2, n: big }],
    ['the integer of an item', [1, big], ['9007199254740993', '9007199254740993'], ['9007199254740993', big]],
    ['the integer at any depth', { a: [{ n: big }] }, { a: [{ n: '9007199254740993' }] }, { a: [{ n: big }] }],
    ['the text of a new member', { n: big }, { m: '9007199254740993' }, { m: '9007199254740993' }],
    ['the text of a member that objects inherit', {}, { toString: 'x' }, { toString: 'x' }],
  ])('returns %s', (_, stored, sent, expected) => {
    expect(keepStoredIntegers(stored, sent)).toStrictEqual(expected);
  });

  it('returns the sent object itself, without a copy, if it has no such integer', () => {
    const sent = { m: ['1', { n: '2' }] };
    expect(keepStoredIntegers({ m: ['1', { n: big }] }, sent)).toBe(sent);
  });

  it('keeps the order and the names of all members', () => {
    const sent = JSON.parse('{"b":"9007199254740993","__proto__":{"a":"9007199254740993"},"a":1}') as object;
    const stored = JSON.parse('{"__proto__":{"a":9007199254740992},"b":1}') as object;
    const kept = keepStoredIntegers(Object.assign(stored, { b: big }), sent);
    expect(Object.entries(kept as object).map(([name]) => name)).toStrictEqual(['b', '__proto__', 'a']);
    expect(Object.getPrototypeOf(kept)).toBe(Object.prototype);
  });
});
