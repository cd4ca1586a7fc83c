import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDefinition } from '../../../src/keys/definition/parse.js';
import { hasMoreValues, maxValues } from '../../../src/lib/value-count.js';
import { parseBody } from '../../../src/http/body.js';
import { generated, runs } from '../../support/generated.js';

/** The members and items of a value. */
function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner: unknown[] = Object.values(value);
  return inner.length + inner.map(countOf).reduce((sum, count) => sum + count, 0);
}

const membersOf = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, n]));

describe('the number of values', () => {
  it('counts all members and items', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const count = countOf(value);
        expect(hasMoreValues(value, count)).toBe(false);
        if (count > 0) expect(hasMoreValues(value, count - 1)).toBe(true);
      }),
      generated(runs('FUZZ_RUNS', 100)),
    );
  });

  it('is the number of members and items in a value', () => {
    const value = { a: [1, 2, { b: null }], c: {}, d: [] };
    expect([6, 7, 8].map((max) => hasMoreValues(value, max))).toEqual([true, false, false]);
  });
});

describe('a body with many values', () => {
  const body = (members: number) => JSON.stringify(membersOf(members));

  it('is read with the maximum number of values', () => {
    expect(parseBody(body(maxValues))).toEqual(membersOf(maxValues));
  });

  it('is rejected as too large with one more', () => {
    expect(() => parseBody(body(maxValues + 1))).toThrow(
      expect.objectContaining({
        code: 'TOO_LARGE',
        message: 'The body has more than 12,000 members of objects and items of lists.',
      }),
    );
  });
});

it('rejects a definition with too many values by one issue, such as one merged with a patch', () => {
  const definition = { metaData: membersOf(9_000), oauthKeys: membersOf(2_998) };
  expect(parseDefinition('update', definition)).toEqual(definition);
  expect(() => parseDefinition('update', { ...definition, tags: ['a'] })).toThrow(
    expect.objectContaining({
      code: 'INVALID',
      issues: [{ path: [], code: 'TOO_MANY', message: 'must have at most 12,000 members and items in all' }],
    }),
  );
});
