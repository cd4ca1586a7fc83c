import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { parse, stringify } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { parseJSON, stringifyJSON, type JSONValue } from '../../../src/lib/json.js';
import { generated, runs } from '../../support/generated.js';

/** Integers that a double cannot hold as bigints, all else as numbers: what `src/lib/json.ts` promises. */
const parseNumber = (token: string) => {
  const number = Number(token);
  return /^-?\d+$/.test(token) && !Number.isSafeInteger(number) && BigInt(number) !== BigInt(token)
    ? BigInt(token)
    : number;
};
const byLibrary = (text: string) => parse(text, undefined, { parseNumber });

const name = fc.oneof(fc.string(), fc.constantFrom('a', '__proto__', 'constructor', 'toString', '0', 'é\u2028'));
const value = fc.letrec<{ value: JSONValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.string({ unit: 'binary' }),
      fc.double({ noNaN: true, min: -1e20, max: 1e20 }),
    ),
    fc.bigInt({ min: -(10n ** 39n), max: 10n ** 39n }),
    fc.array(tie('value'), { maxLength: 4 }) as fc.Arbitrary<JSONValue>,
    fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }).map((members) => Object.fromEntries(members) as JSONValue),
  ),
})).value;

describe('parseJSON and lossless-json', () => {
  it('reads the same value, with big integers, escaped names and __proto__', () => {
    fc.assert(
      fc.property(value, (original) => {
        const text = stringify(original) ?? '';
        // Escapes every letter of some names: JSON.parse of Node 24 misreads them.
        const escaped = text.replace(/"([a-z]+)":/g, (_all, letters: string) => {
          const units = [...letters].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
          return `"${units.join('')}":`;
        });
        expect(isDeepStrictEqual(parseJSON(text), byLibrary(text))).toBe(true);
        expect(isDeepStrictEqual(parseJSON(escaped), byLibrary(escaped))).toBe(true);
      }),
      generated(runs('JSON_RUNS', 1000)),
    );
  });

  it('writes a text that the library reads as the same value', () => {
    fc.assert(
      fc.property(value, (original) => {
        expect(isDeepStrictEqual(byLibrary(stringifyJSON(original)), parseJSON(stringifyJSON(original)))).toBe(true);
      }),
      generated(runs('JSON_RUNS', 1000)),
    );
  });

  it.each([
    ['a member twice with one value', '{"a":1,"a":1}', { a: 1 }],
    ['1e400', '1e400', Infinity],
  ])('rejects %s, which the library accepts', (_what, text, read) => {
    expect(byLibrary(text)).toEqual(read);
    expect(() => parseJSON(text)).toThrow();
  });

  it('rejects 100,000 brackets with its own message, for which the library has no limit of depth', () => {
    const text = '['.repeat(100_000);
    expect(() => byLibrary(text)).toThrow(RangeError);
    expect(() => parseJSON(text)).toThrow('nested');
  });

  it('repeats nothing of an invalid text, which the library quotes', () => {
    const text = '{"hunter2":1,"hunter2":2}';
    expect(() => byLibrary(text)).toThrow('hunter2');
    expect(() => parseJSON('{"a": hunter2')).toThrow(/^(?!.*hunter2)/);
  });
});
