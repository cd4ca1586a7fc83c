import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { fastValidators, inputs } from '../../../src/keys/definition/parse.js';
import { fastValidatorOf, INVALID } from '../../../src/keys/definition/fast-validator.js';
import { KeyDefinition } from '../../../src/keys/definition/schema.js';
import { rules } from '../../../src/keys/definition/rules.js';
import { createObjectFactory } from '../../../src/keys/definition/object-shapes.js';
import { definitionFromWire } from '../../../src/wire/field-names.js';
import { fullPreview, fullUpdate } from '../../support/factories.js';
import { createRandom, generated, runs, seed } from '../../support/generated.js';

const full = { preview: definitionFromWire(fullPreview), update: definitionFromWire(fullUpdate) };
const variants = ['preview', 'update'] as const;

/** What may stand anywhere, and is right in some places. */
const values: readonly unknown[] = [
  ...[null, true, false, '', ' ', 'x', 'GET', ' get', 'ſet', '17', '2020-01-01T00:00:00Z', 'bcrypt', 'md5', '***'],
  ...['\0', '\ud800', '__proto__', '..', 'a/b', 'x'.repeat(257), 'é'.repeat(128), 'x'.repeat(70_000)],
  ...[0, -0, 1, -1, -2, 0.5, 1.5, 100, 101, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 1e300, NaN, Infinity],
  ...[0n, -1n, 2n ** 53n, 2n ** 63n - 1n, 2n ** 63n, -(2n ** 63n), -(2n ** 63n) - 1n],
  ...[[], [null], ['a', 'a'], [1, 'x'], [[]], Array.from({ length: 101 }, (_, index) => `t${index}`)],
  ...[{}, { a: null }, { enabled: true }, { url: '/x' }, { label: 'x' }, { constructor: 1 }, undefined],
  JSON.parse('{"__proto__":1}'),
];

/** A definition that is right but for a few places. */
function spoilt(definition: unknown, from: number): unknown {
  const { below, pick } = createRandom(from);
  const copy = structuredClone(definition);
  for (let times = below(4); times > 0; times -= 1) {
    let owner = copy as Record<string, unknown>;
    for (let depth = below(5); depth > 0; depth -= 1) {
      const inner = Object.values(owner).filter((value) => typeof value === 'object' && value !== null);
      if (inner.length > 0) owner = pick(inner) as Record<string, unknown>;
    }
    const name =
      below(20) === 0 ? pick(['strange', '__proto__', 'quota_max', 'keyID']) : pick([...Object.keys(owner), 'x']);
    if (below(6) === 0) Reflect.deleteProperty(owner, name);
    else
      Object.defineProperty(owner, name, { value: pick(values), enumerable: true, configurable: true, writable: true });
  }
  return copy;
}

describe.each(variants)(`the fast validator of the %s (FUZZ_SEED=${seed})`, (variant) => {
  const read = fastValidators[variant];
  const slowly = (raw: unknown) => inputs[variant].safeParse(raw);

  it('accepts a full definition, and every one without some of its fields', () => {
    expect(isDeepStrictEqual(read(full[variant]), slowly(full[variant]).data)).toBe(true);
    for (const name of Object.keys(full[variant] as object)) {
      const { [name]: _, ...rest } = full[variant] as Record<string, unknown>;
      expect([name, read(rest) === INVALID]).toEqual([name, false]);
    }
  });

  it('accepts what zod accepts, with the same value, and nothing else', () => {
    const found = { accepted: 0, rejected: 0 };
    const property = fc.property(fc.integer(), (from) => {
      const raw = spoilt(full[variant], from);
      const [fast, slow] = [read(raw), slowly(raw)];
      expect(fast !== INVALID).toBe(slow.success);
      found[slow.success ? 'accepted' : 'rejected'] += 1;
      if (slow.success) expect(isDeepStrictEqual(fast, slow.data)).toBe(true);
    });
    fc.assert(property, generated(runs('READ_RUNS', 1_000)));
    // Otherwise the generator produced too few of one kind to compare.
    expect(found.accepted).toBeGreaterThan(runs('READ_RUNS', 1_000) / 10);
    expect(found.rejected).toBeGreaterThan(found.accepted / 4);
  });

  it.each([null, undefined, 1, 'x', [], () => undefined])('rejects %s', (raw) => {
    expect(read(raw)).toBe(INVALID);
  });
});

describe('fastValidator', () => {
  it('generates code for the fields of both inputs', () => {
    for (const variant of variants) {
      expect(() => z.core.compileFn(inputs[variant])).toThrow('custom "when" condition');
      expect(fastValidators[variant](full[variant])).not.toBe(INVALID);
    }
    for (const schema of Object.values(KeyDefinition.shape)) expect(() => z.core.compileFn(schema)).not.toThrow();
  });

  it('runs zod for a schema that zod cannot compile', () => {
    const schema = z.string().check(rules as unknown as z.core.$ZodCheck<string>);
    const validate = fastValidatorOf(schema);
    expect([validate('x'), validate(1)]).toEqual(['x', INVALID]);
  });
});

describe('an object with a template', () => {
  it('has the members with a value, in the order of their names, for any number of combinations', () => {
    const names = Array.from({ length: 12 }, (_, index) => `n${index}`);
    const make = createObjectFactory(names);
    for (let mask = 0; mask < 300; mask += 1) {
      const given = names.map((_, index) => ((mask >> index) & 1 ? index : undefined));
      const expected = names.filter((_, index) => given[index] !== undefined);
      expect(Object.keys(make(given))).toEqual(expected);
    }
  });

  it('keeps null, has no members of another object, and may have more names than bits', () => {
    const names = Array.from({ length: 80 }, (_, index) => `n${index}`);
    const make = createObjectFactory(names);
    expect(make(names.map((_, index) => (index === 79 ? null : undefined)))).toEqual({ n79: null });
    expect(make(names.map((_, index) => (index === 1 ? 1 : undefined)))).toEqual({ n1: 1 });
  });
});
