import { describe, expect, it } from 'vitest';
import { exactJSON, indentExactly } from '../../../src/rest/docs-page/browser/exact-json.js';

describe('JSON in the page of the REST documents', () => {
  it('keeps every digit of integers beyond 2^53', () => {
    expect(indentExactly('{"a":9223372036854775807,"b":[-9007199254740993,1.5,12]}')).toBe(
      '{\n  "a": 9223372036854775807,\n  "b": [\n    -9007199254740993,\n    1.5,\n    12\n  ]\n}',
    );
  });

  it('leaves digits inside strings alone', () => {
    const text = '{"a":"9223372036854775807","b":"\\"9223372036854775807"}';
    expect(JSON.parse(indentExactly(text))).toEqual(JSON.parse(text));
    expect(exactJSON(text)).toBeUndefined();
  });

  it.each(['{"a":1}', '[0.1, 2e3]', 'not JSON', ''])('replaces nothing in %s', (text) => {
    expect(exactJSON(text)).toBeUndefined();
  });
});
