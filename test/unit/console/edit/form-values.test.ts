import { describe, expect, it } from 'vitest';
import { fromText, mergeFields, parseExactly, toText, withValue } from '../../../../src/console/edit/form-values.js';
import type { FormField } from '../../../../src/console/form-field.js';

const base = { alias: 'Billing', rate: 100, tags: ['one'], quotaMax: 1000 };

describe('the merge of an edit with the changes of another client', () => {
  it('takes fields that only the other client has set, changed or removed', () => {
    const { quotaMax: _, ...rest } = base;
    const theirs = { ...rest, rate: 200, per: 60 };
    expect(mergeFields(base, { ...base, alias: 'Mine' }, theirs)).toEqual({
      merged: { alias: 'Mine', rate: 200, tags: ['one'], per: 60 },
      taken: ['rate', 'quotaMax', 'per'],
      conflicts: [],
    });
  });

  it('keeps own changes, and reports fields that both have changed to different values', () => {
    const { tags: _, ...mine } = { ...base, rate: 300 };
    const theirs = { ...base, rate: 400, tags: ['one', 'two'] };
    expect(mergeFields(base, mine, theirs)).toEqual({
      merged: mine,
      taken: [],
      conflicts: [
        { name: 'rate', base: 100, mine: 300, theirs: 400 },
        { name: 'tags', base: ['one'], mine: undefined, theirs: ['one', 'two'] },
      ],
    });
  });

  it('reports nothing if both have made the same change', () => {
    const both = { ...base, rate: 300 };
    expect(mergeFields(base, both, { ...both })).toEqual({ merged: both, taken: [], conflicts: [] });
  });

  it('keeps a new secret, which no version contains', () => {
    const mine = { ...base, hmacString: 'new' };
    expect(mergeFields(base, mine, { ...base, rate: 1 }).merged).toEqual({ ...mine, rate: 1 });
  });
});

const field = (type: string, isList = false): FormField => ({
  name: 'field',
  type,
  isList,
  isSecret: false,
  isEditable: true,
  description: '',
});

describe('the text of a field', () => {
  it.each([
    ['Float', '1.5', 1.5],
    ['Float', ' 7 ', 7],
    ['Float', '1.', '1.'],
    ['Float', 'many', 'many'],
    ['Int64', '9007199254740991', 9007199254740991],
    ['Int64', '9223372036854775807', '9223372036854775807'],
    ['String', ' a ', ' a '],
    ['String', '  ', undefined],
    ['JSONObject', '{"a":1}', { a: 1 }],
    ['JSONObject', '{"a":', '{"a":'],
  ])('of type %s reads %j as %j', (type, text, value) => {
    expect(fromText(field(type), text)).toEqual(value);
  });

  it('of a list has a value on each line', () => {
    expect(fromText(field('String', true), 'one\n\n two')).toEqual(['one', ' two']);
    expect(fromText(field('Float', true), '90\n75.5\nx')).toEqual([90, 75.5, 'x']);
    expect(toText(field('String', true), ['one', 'two'])).toBe('one\ntwo');
  });

  it('is empty for an absent value, which an empty text removes', () => {
    expect([undefined, null].map((value) => toText(field('String'), value))).toEqual(['', '']);
    expect(withValue({ alias: 'A', rate: 1 }, 'rate', fromText(field('Float'), ''))).toEqual({ alias: 'A' });
  });
});

describe('exact JSON', () => {
  it('keeps all digits of integers, outside of strings', () => {
    expect(parseExactly('{"a":9223372036854775807,"b":"x \\" 9223372036854775807","c":-1.5e3}')).toEqual({
      a: '9223372036854775807',
      b: 'x " 9223372036854775807',
      c: -1500,
    });
  });

  it('is undefined for other text', () => {
    expect(parseExactly('{')).toBeUndefined();
  });
});
