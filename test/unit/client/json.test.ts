import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJSON } from '../../../src/client/json.js';
import { misreadJSON } from '../../support/misread-json.js';
import { generated, runs } from '../../support/generated.js';

describe('the JSON reader of the client', () => {
  it.each(misreadJSON)('reads the escaped member name of $second after $first', ({ first, second, name }) => {
    for (let round = 0; round < 100; round += 1) {
      expect(Object.keys(parseJSON(first) as object)[1]).toBe('\\');
      expect(Object.keys(parseJSON(second) as object)[1]).toBe(name);
    }
  });

  it('returns the value of any JSON text', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        expect(JSON.stringify(parseJSON(JSON.stringify(value)))).toBe(JSON.stringify(value));
      }),
      generated(runs('FUZZ_RUNS', 100)),
    );
  });

  it('keeps escaped names that look like its own marks, and those of Object.prototype', () => {
    const text = String.raw`{"#0":1,"##":{"\u005f_proto__":[{"\n":{"\"":2}}]},"\u0023\u0030":3,"\\":"\"x\":#0"}`;
    expect(JSON.stringify(parseJSON(text))).toBe(
      String.raw`{"#0":3,"##":{"__proto__":[{"\n":{"\"":2}}]},"\\":"\"x\":#0"}`,
    );
  });

  it.each(['{"\\x":1}', '{"a\\":1}', '{"a":"\\u00"}', '"\\', ''])('throws a SyntaxError for %s', (text) => {
    expect(() => parseJSON(text)).toThrow(SyntaxError);
  });
});
