import { isDeepStrictEqual } from 'node:util';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

// JSON.parse itself is wrong on Node 24 and 26: https://github.com/nodejs/node/issues/63785
import { parseJSON as asSpecified } from '../../../src/client/json.js';
import { AppError } from '../../../src/lib/errors.js';
import {
  hasEscapedName,
  isObject,
  maxJSONDepth,
  parseJSON,
  parseJSONCarefully,
  stringifyJSON,
} from '../../../src/lib/json.js';
import type { JSONValue } from '../../../src/lib/json.js';
import { misreadJSON } from '../../support/misread-json.js';
import { generated, runs } from '../../support/generated.js';

const extraRejections = ['DUPLICATE_MEMBER', 'TOO_DEEP', 'OUT_OF_RANGE', 'IMPRECISE'];
const publicMessages = [
  /^The body is not valid JSON \(line \d+, column \d+\)\.$/,
  /^A member of the body occurs more than once in its object\.$/,
  /^The body is nested more than 64 levels deep\.$/,
  /^(The body|A member of the body) is a number that is too large\.$/,
  /^(The body|A member of the body) is a number with more digits than can be kept\.$/,
];

function rejectionOf(text: string, parse = parseJSON): AppError {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('The text was accepted.');
}

function issueOf(text: string) {
  const error = rejectionOf(text);
  expect(error.code).toBe('INVALID');
  expect(error.issues).toHaveLength(1);
  return { path: error.issues[0]?.path, code: error.issues[0]?.code };
}

/** What a parser makes of a text, in a form that can be compared. */
function outcome(text: string, parse: (text: string) => unknown) {
  try {
    return { value: parse(text) };
  } catch (error) {
    if (error instanceof AppError) return { message: error.message, code: error.code, issues: error.issues };
    if (error instanceof SyntaxError) return { syntaxError: true };
    throw error;
  }
}

function mapNumbers(value: JSONValue, change: (number: number | bigint) => number | bigint): JSONValue {
  if (typeof value === 'number' || typeof value === 'bigint') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => mapNumbers(item, change));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapNumbers(member, change)]));
}

/** The same value once every bigint is rounded to the double that JSON.parse would have given. */
const rounded = (value: JSONValue) => mapNumbers(value, Number);

/** The same value with 0 for minus zero, which JSON.stringify does not write. */
const withoutMinusZero = (value: JSONValue) => mapNumbers(value, (number) => (number === 0 ? 0 : number));

/** The contract for numbers, worked out with fractions of bigints instead of digits. */
function expectedNumber(token: string): number | bigint | string {
  const nearest = Number(token);
  if (!Number.isFinite(nearest)) return 'OUT_OF_RANGE';
  const [mantissa = '', exponent = '0'] = token.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const scale = Number(exponent) - fraction.length;
  const numerator = BigInt(whole + fraction) * (scale > 0 ? 10n ** BigInt(scale) : 1n);
  const denominator = scale < 0 ? 10n ** BigInt(-scale) : 1n;
  if (numerator % denominator !== 0n) return Number.isInteger(nearest) ? 'IMPRECISE' : nearest;
  const exact = numerator / denominator;
  return Math.abs(nearest) >= 1e40 || BigInt(nearest) === exact ? nearest : exact;
}

function actualNumber(token: string, parse = parseJSON): JSONValue {
  try {
    return parse(token);
  } catch (error) {
    if (error instanceof AppError) return error.issues[0]?.code ?? '';
    throw error;
  }
}

const digits = (maxLength: number) => fc.stringMatching(/^\d+$/).map((text) => text.slice(0, maxLength));
const longDigits = fc.array(fc.constantFrom(...'0000123456789999'), { minLength: 1, maxLength: 45 });
const wholePart = fc.oneof(
  digits(6),
  longDigits.map((list) => list.join('')),
  fc.bigInt({ min: 2n ** 52n, max: 2n ** 66n }).map(String),
);
const numberText = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: wholePart.map((text) => text.replace(/^0+(?=\d)/, '')),
    fraction: fc.option(fc.oneof(digits(4), wholePart), { nil: undefined }),
    exponent: fc.option(
      fc.tuple(
        fc.constantFrom('e', 'E', 'e+', 'E-', 'e-'),
        fc.oneof(fc.nat(60), fc.constantFrom('007', 308, 309, 400)),
      ),
      { nil: undefined },
    ),
  })
  .map(
    ({ sign, whole, fraction, exponent }) =>
      `${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}${exponent?.join('') ?? ''}`,
  );
const easyNumberText = fc.oneof(
  fc.integer().map(String),
  fc.constantFrom('0', '-0', '0.5', '5.0', '-1.25', '12345678.5', '1.723207234e+09', '2E3', '0e0', '-0.0', '1e22'),
);

const space = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
const stringPiece = fc.oneof(
  fc.constantFrom('\\"', '\\\\', '\\/', '\\b', '\\n', '\\u0041', '\\u0000', '\\uD83D', '\\ude00', '😀', '\u2028'),
  fc.constantFrom(':', '{', '[', ',', '}', '1234567890123456789', '1e5', ' ', 'é'),
  fc.string({ maxLength: 4 }).map((text) => JSON.stringify(text).slice(1, -1)),
);
const stringText = fc.array(stringPiece, { maxLength: 4 }).map((pieces) => `"${pieces.join('')}"`);
const nameText = fc.oneof(
  stringText,
  fc.constantFrom('"a"', '"\\u0061"', '"b"', '"__proto__"', '"constructor"', '"1"', '"0"', '""'),
);

/** JSON texts by grammar; with `distinctNames` no object has a name twice. */
function textsWith(number: fc.Arbitrary<string>, distinctNames: boolean): fc.Arbitrary<string> {
  const member = (value: fc.Arbitrary<string>) => fc.tuple(nameText, space, value);
  return fc.letrec<{ text: string; value: string; list: string; object: string }>((tie) => ({
    text: fc.tuple(space, tie('value'), space).map((parts) => parts.join('')),
    value: fc.oneof(
      { maxDepth: 4, depthIdentifier: 'json' },
      fc.oneof(fc.constantFrom('null', 'true', 'false'), number, stringText),
      tie('list'),
      tie('object'),
    ),
    list: fc.array(tie('text'), { maxLength: 4, depthIdentifier: 'json' }).map((items) => `[${items.join(',')}]`),
    object: (distinctNames
      ? fc.uniqueArray(member(tie('text')), { maxLength: 4, selector: ([name]): unknown => JSON.parse(name) })
      : fc.array(member(tie('text')), { maxLength: 4 })
    ).map((members) => `{${members.map(([name, gap, value]) => `${gap}${name}${gap}:${value}`).join(',')}}`),
  })).text;
}

const easyText = textsWith(easyNumberText, true);
const anyText = textsWith(fc.oneof(easyNumberText, numberText), false);
const brokenText = fc
  .tuple(
    fc.oneof(anyText, easyText, fc.json()),
    fc.array(
      fc.record({
        at: fc.nat(),
        remove: fc.nat(2),
        insert: fc.oneof(
          fc.constantFrom('', ...'{}[]:,"\\/0129.-+eEtfnu \n\t\v\u0000\u001f\u00a0\ufeff', 'NaN', "'", '//', '01'),
          fc.string({ maxLength: 2 }),
        ),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  )
  .map(([text, edits]) =>
    edits.reduce((edited, { at, remove, insert }) => {
      const start = at % (edited.length + 1);
      return edited.slice(0, start) + insert + edited.slice(start + remove);
    }, text),
  );

const thorough = generated(runs('JSON_RUNS', 1000));

describe('parseJSON compared with JSON.parse', () => {
  it('returns the same value for every text without duplicates or long numbers', () => {
    fc.assert(
      fc.property(easyText, (text) => {
        expect(isDeepStrictEqual(outcome(text, parseJSON), { value: asSpecified(text) })).toBe(true);
        expect(isDeepStrictEqual(outcome(text, parseJSONCarefully), { value: asSpecified(text) })).toBe(true);
      }),
      thorough,
    );
  });

  it('returns the same value, except bigints, for every result of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(isDeepStrictEqual(rounded(parseJSON(text)), asSpecified(text))).toBe(true);
      }),
      thorough,
    );
  });

  it('keeps the order of members', () => {
    fc.assert(
      fc.property(easyText, (text) => {
        expect(JSON.stringify(parseJSONCarefully(text))).toBe(JSON.stringify(asSpecified(text)));
      }),
      generated(runs('FUZZ_RUNS', 100)),
    );
  });

  it('accepts no text that JSON.parse rejects, and rejects others only for its own four reasons', () => {
    let rejected = 0;
    fc.assert(
      fc.property(fc.oneof(brokenText, anyText), (text) => {
        const ours = outcome(text, parseJSON);
        const native = outcome(text, asSpecified);
        if (native.syntaxError) {
          rejected++;
          expect(ours.code).toBe('INVALID');
        } else if (ours.code) {
          expect(extraRejections).toContain(ours.issues[0]?.code);
        } else {
          expect(isDeepStrictEqual(rounded(parseJSON(text)), native.value)).toBe(true);
        }
      }),
      generated(runs('JSON_RUNS', 2000)),
    );
    expect(rejected).toBeGreaterThan(300);
  });

  it('has a fast path that never differs from the careful one', () => {
    fc.assert(
      fc.property(fc.oneof(brokenText, anyText, easyText, fc.json()), (text) => {
        const fast = outcome(text, parseJSON);
        const careful = outcome(text, parseJSONCarefully);
        expect(isDeepStrictEqual(fast, careful)).toBe(true);
      }),
      generated(runs('JSON_RUNS', 2000)),
    );
  });

  it.each([
    ...['', ' ', 'tru', 'truex', '01', '1.', '.5', '+1', '-', '1e', '[1,]', '{"a":1,}', '{a:1}', '[1 2]', "'a'"],
    ...['"\u0000"', '"a\nb"', '"\\x"', '"\\u12g4"', '"\\u12"', '"\\', '"abc', '\ufeff1', '\u00a01', '1\u2028'],
  ])('rejects %j', (text) => {
    expect(issueOf(text)).toEqual({ path: [], code: 'MALFORMED_JSON' });
  });
});

describe('isObject', () => {
  it.each([
    [{}, true],
    [new Map(), true],
    [[], false],
    [null, false],
    [undefined, false],
    ['text', false],
    [() => 1, false],
  ])('states whether %o is one: %s', (value, expected) => {
    expect(isObject(value)).toBe(expected);
  });
});

describe('escaped member names', () => {
  it.each(misreadJSON)('reads the name of $second after $first', ({ first, second, name }) => {
    for (let round = 0; round < 100; round += 1) {
      expect(Object.keys(parseJSON(first) as object)[1]).toBe('\\');
      expect(Object.keys(parseJSON(second) as object)[1]).toBe(name);
    }
  });

  it('reads them in results of stringifyJSON', () => {
    for (const { first, second } of misreadJSON) {
      for (const text of [first, second]) {
        const value = parseJSONCarefully(text);
        expect(parseJSON(stringifyJSON(value))).toEqual(value);
      }
    }
  });

  it.each([String.raw`{"\\":1}`, '{"a":"x\\"y","b":[{"\\u0061" \t\n: 1}]}', String.raw`{"a\"":1}`])(
    'finds them in %s',
    (text) => expect(hasEscapedName(text)).toBe(true),
  );

  it.each([String.raw`{"a":"\\","b":["\u0061\":"],"":"\""}`, String.raw`["\\", "a"]`, '{"a":"b"}'])(
    'finds none in %s',
    (text) => expect(hasEscapedName(text)).toBe(false),
  );
});

describe('numbers of parseJSON', () => {
  it.each<[string, number | bigint]>([
    ['0', 0],
    ['5.0', 5],
    ['1.723207234e+09', 1723207234],
    ['0.1', 0.1],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992],
    ['9007199254740993', 9007199254740993n],
    ['9007199254740993.0', 9007199254740993n],
    ['9.007199254740993e15', 9007199254740993n],
    ['9.007199254740993000E+15', 9007199254740993n],
    ['90071992547409930e-1', 9007199254740993n],
    ['18014398509481984', 2 ** 54],
    ['18014398509481985', 18014398509481985n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -(2 ** 63)],
    ['-9223372036854775809', -9223372036854775809n],
    ['123456789012345e4', 1234567890123450000n],
    ['1e22', 1e22],
    ['1e23', 100000000000000000000000n],
    ['1180591620717411303424', 2 ** 70],
    ['1e39', 1000000000000000000000000000000000000000n],
    ['1e41', 1e41],
    ['1e308', 1e308],
    ['0.30000000000000001', 0.3],
    ['5e-324', 5e-324],
    ['1e-320', 1e-320],
    ['0e999', 0],
    ['0e-999', 0],
    ['0.000e99999999999999999999', 0],
    ['1000000000000000000000e-21', 1],
  ])('are exact: %s', (token, value) => {
    expect(parseJSON(token)).toBe(value);
    expect(parseJSON(`{"a":[${token}]}`)).toStrictEqual({ a: [value] });
  });

  it.each(['-0', '-0.0', '-0e5', '-0.00000000000000000'])('reads %s as minus zero, like JSON.parse', (token) => {
    expect(parseJSON(token)).toBe(-0);
  });

  it.each([
    '900719925474099.01',
    '9007199254740993.5',
    '1.00000000000000001',
    '0.99999999999999999999',
    '1e-400',
    '-1e-400',
    '123456789012345678901234567890.5',
    '1e-99999999999999999999',
  ])('rejects %s, whose fraction a double would drop', (token) => {
    expect(issueOf(`{"a":[1,${token}]}`)).toEqual({ path: ['a', 1], code: 'IMPRECISE' });
  });

  it.each(['1e400', '-1e400', '1e99999999999999999999', '9'.repeat(400), `${'9'.repeat(400)}.5`])(
    'rejects %s, which no double can represent',
    (token) => {
      expect(issueOf(`{"a":[1,${token}]}`)).toEqual({ path: ['a', 1], code: 'OUT_OF_RANGE' });
    },
  );

  it('are exact, or the nearest double of a fraction, or rejected', () => {
    const kinds = new Set<string>();
    fc.assert(
      fc.property(numberText, (token) => {
        // The bigint arithmetic gives minus zero no sign of its own, and minus zero has its promise above.
        const expected = expectedNumber(token);
        kinds.add(typeof expected === 'string' ? expected : typeof expected);
        const actual = actualNumber(token);
        expect(actual === expected, `${token}: ${String(actual)} and not ${String(expected)}`).toBe(true);
        expect(actualNumber(token, parseJSONCarefully)).toStrictEqual(actual);
      }),
      generated(runs('JSON_RUNS', 3000)),
    );
    expect([...kinds].sort()).toEqual(['IMPRECISE', 'OUT_OF_RANGE', 'bigint', 'number']);
  });

  it('keep the digits of integers below 1e40', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: -(10n ** 39n), max: 10n ** 39n })), (list) => {
        const text = `[${list.join(',')}]`;
        expect(stringifyJSON(parseJSON(text))).toBe(text);
      }),
      thorough,
    );
  });

  it('are the nearest doubles from 1e40 on', () => {
    expect(parseJSON(`1${'0'.repeat(40)}`)).toBe(1e40);
    expect(parseJSON(`-1${'0'.repeat(40)}`)).toBe(-1e40);
  });

  it('keep their digits around every power of two', () => {
    for (let power = 0n; power < 132n; power++) {
      for (const near of [-1n, 0n, 1n, 2n ** (power / 2n)]) {
        const text = `[${2n ** power + near},${-(2n ** power) - near - 1n}]`;
        expect(stringifyJSON(parseJSON(text))).toBe(text);
      }
    }
  });
});

describe('members of parseJSON', () => {
  it.each<[string, (string | number)[]]>([
    ['{"a":1,"a":1}', ['a']],
    ['{"a":1,"\\u0061":2}', ['a']],
    ['{"a":{"b":[0,{"c":1,"d":2,"c":3}]}}', ['a', 'b', 1, 'c']],
    ['{"__proto__":1,"__proto__":2}', ['__proto__']],
    ['{"":1,"":2}', ['']],
    ['{"a" :1,"a"\n:{}}', ['a']],
    ['[{"a":":\\":"},{"a":"x","b":":","a":1}]', [1, 'a']],
    ['{"a":{"x":1,"y":2},"a":{}}', ['a']],
    ['{"1":0,"1":0}', ['1']],
    ['{"a":"\\\\","a":"\\""}', ['a']],
    ['{"a":"\\"","b":"\\\\\\"","a":"\\\\"}', ['a']],
  ])('rejects them twice in one object: %s', (text, path) => {
    expect(issueOf(text)).toEqual({ path, code: 'DUPLICATE_MEMBER' });
  });

  it('accepts one name in different objects', () => {
    const text = '{"a":{"a":[{"a":1},{"a":"\\"a\\":"}]},"b":{"a":":"}}';
    expect(parseJSON(text)).toStrictEqual(JSON.parse(text));
  });

  it.each(['', ',"x":1e0'])('keeps __proto__ as an own member (%j)', (rest) => {
    const value = parseJSON(`{"__proto__":{"admin":true},"constructor":1,"toString":2${rest}}`);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    const attributes = { configurable: true, enumerable: true, writable: true };
    expect(Object.getOwnPropertyDescriptor(value, '__proto__')).toEqual({ value: { admin: true }, ...attributes });
    expect(value).not.toHaveProperty('admin');
    expect(Object.keys(value ?? {}).slice(0, 3)).toEqual(['__proto__', 'constructor', 'toString']);
  });

  it('rejects them twice even if Object.prototype was extended', () => {
    Object.defineProperty(Object.prototype, 'polluted', { value: 1, enumerable: true, configurable: true });
    let issues;
    try {
      issues = outcome('{"a":1,"a":2}', parseJSON).issues;
    } finally {
      Reflect.deleteProperty(Object.prototype, 'polluted');
    }
    expect(issues?.[0]?.code).toBe('DUPLICATE_MEMBER');
  });
});

describe('the depth of parseJSON', () => {
  const nested = (depth: number, inner = '') => '['.repeat(depth) + inner + ']'.repeat(depth);

  it.each(['', '1', '9007199254740993', '{}'])('accepts 64 levels and rejects one more (inner %j)', (inner) => {
    const depth = maxJSONDepth - (inner === '{}' ? 1 : 0);
    expect(parseJSON(nested(depth, inner))).toBeInstanceOf(Array);
    expect(issueOf(nested(depth + 1, inner))).toEqual({ path: [], code: 'TOO_DEEP' });
  });

  it('counts arrays and objects alike', () => {
    expect(parseJSON('{"a":['.repeat(32) + ']}'.repeat(32))).toBeInstanceOf(Object);
    expect(issueOf(`[${'{"a":['.repeat(32)}${']}'.repeat(32)}]`).code).toBe('TOO_DEEP');
  });

  it('does not add up siblings', () => {
    expect(parseJSON(`[${Array.from({ length: 100 }, () => '[{}]').join(',')}]`)).toHaveLength(100);
  });

  it.each(['[', '{"a":', '[{"a":['])('R-06 rejects 100,000 times %s as too deep and exhausts nothing', (opening) => {
    expect(issueOf(opening.repeat(100_000)).code).toBe('TOO_DEEP');
    expect(issueOf(nested(100_000)).code).toBe('TOO_DEEP');
  });
});

describe('error messages of parseJSON', () => {
  it.each([
    ['{"a": 1, "b": x}', 1, 15],
    ['', 1, 1],
    ['{"a":1}\n x', 2, 2],
    ['[1,\r\n  2\r\n  3]', 3, 3],
    ['["abc', 1, 6],
    ['["a\\x"]', 1, 4],
    ['[1,]', 1, 4],
  ])('name the position at which %j is not JSON', (text, line, column) => {
    expect(rejectionOf(text).message).toBe(`The body is not valid JSON (line ${line}, column ${column}).`);
  });

  it('S-04 repeat nothing of the text', () => {
    fc.assert(
      fc.property(fc.oneof(brokenText, anyText), (text) => {
        const { message, issues } = outcome(text, parseJSON);
        if (message === undefined) return;
        expect(publicMessages.some((pattern) => pattern.test(message))).toBe(true);
        expect(issues).toHaveLength(1);
        expect(message.endsWith(`body ${issues?.[0]?.message}.`)).toBe(true);
      }),
      thorough,
    );
  });

  it('S-04 have no cause that quotes the text', () => {
    expect(rejectionOf('{"password": hunter2}').cause).toBeUndefined();
  });
});

describe('the time of parseJSON', () => {
  const size = 200_000;
  const hostile: [string, string][] = [
    ['an unterminated string', `"${'a'.repeat(size)}`],
    ['an unterminated string of backslashes', `"${'\\'.repeat(size)}`],
    ['an unterminated string of escaped quotes', `"${'\\"'.repeat(size / 2)}`],
    ['an unterminated string of odd backslashes', `["${'\\\\\\"'.repeat(size / 4)}`],
    ['a string of backslashes', `["${'\\'.repeat(size)}"]`],
    ['a string of escaped quotes', `["${'\\"'.repeat(size / 2)}",1e5]`],
    ['a string of escaped quotes and colons', `["${'\\":'.repeat(size / 3)}"]`],
    ['a string of colons', `{"a":"${':'.repeat(size)}","a":1}`],
    ['empty strings with colons', '"":'.repeat(size / 3)],
    ['empty strings', `[${'"",'.repeat(size / 3)}""]`],
    ['quotes', '"'.repeat(size)],
    ['white space', `{"a"${' '.repeat(size)}`],
    ['line breaks', '\n'.repeat(size)],
    ['a long integer', '9'.repeat(size)],
    ['zeros before a digit', `[0.${'0'.repeat(size)}1]`],
    ['zeros that an exponent undoes', `[0.${'0'.repeat(size)}1e${size + 1}]`],
    ['zeros after the point', `[1.${'0'.repeat(size)}]`],
    ['a long exponent', `[1e-${'0'.repeat(size)}1]`],
    ['short numbers of many digits', `[${'1e39,'.repeat(size / 5)}1e308]`],
    ['digits and points', '1.1'.repeat(size / 3)],
    ['minus signs', '-'.repeat(size)],
    ['closing brackets', ']'.repeat(size)],
    ['many members', `{${Array.from({ length: size / 10 }, (_, i) => `"${i}":0`).join(',')},"0":1}`],
  ];

  it.each(hostile)('is linear for %s', (_name, text) => {
    const start = process.cpuUsage();
    const first = outcome(text, parseJSON);
    const { user, system } = process.cpuUsage(start);
    // A quadratic step over 200,000 characters takes ten seconds and more, and a linear one a few milliseconds.
    expect((user + system) / 1000).toBeLessThan(1000);
    expect(isDeepStrictEqual(first, outcome(text, parseJSONCarefully))).toBe(true);
    expect(outcome(text, JSON.parse).syntaxError ?? false).toBe(first.issues?.[0]?.code === 'MALFORMED_JSON');
  });

  it('is linear when strings of digits, quotes and NULs are written', () => {
    const start = process.cpuUsage();
    for (const part of ['1', '"', '\u0000', '"\u0000', '\\', 'e+']) stringifyJSON([part.repeat(size), 1n]);
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1000).toBeLessThan(1000);
  });
});

describe('stringifyJSON', () => {
  it('writes like JSON.stringify without long integers', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.constantFrom(undefined, 0, 2), (value, indent) => {
        const native = JSON.stringify(value, undefined, indent);
        fc.pre(!/\d{16}|e\+/.test(native));
        expect(stringifyJSON(value, indent)).toBe(native);
      }),
      // Most values are left out, because a number of them has 16 digits.
      generated(runs('JSON_RUNS', 100)),
    );
  });

  it('writes bigints within the range of doubles as usual, also beside larger ones, and does not change the value', () => {
    const value = {
      a: [1n, -0, 2n ** 53n - 1n],
      ...(JSON.parse('{"__proto__":{"b":[null]}}') as object),
      c: { d: -1n },
    };
    const before = structuredClone(value);
    expect(stringifyJSON(value)).toBe('{"a":[1,0,9007199254740991],"__proto__":{"b":[null]},"c":{"d":-1}}');
    expect(stringifyJSON([value, 2n ** 53n])).toBe(`[${stringifyJSON(value)},9007199254740992]`);
    const inside = Object.defineProperty({}, '__proto__', { value: { b: 1n }, enumerable: true });
    expect(stringifyJSON(inside)).toBe('{"__proto__":{"b":1}}');
    expect(value).toEqual(before);
  });

  it('rejects a value with many references to itself soon', () => {
    const value: Record<string, unknown> = { n: 1n };
    for (const name of ['a', 'b', 'c']) value[name] = value;
    expect(() => stringifyJSON(value)).toThrow(TypeError);
  });

  it('writes a bigint as bare digits at any depth', () => {
    expect(stringifyJSON(-(2n ** 64n))).toBe('-18446744073709551616');
    expect(stringifyJSON({ a: [1n, { b: 0n }] })).toBe('{"a":[1,{"b":0}]}');
    expect(stringifyJSON({ a: [1n] }, 2)).toBe('{\n  "a": [\n    1\n  ]\n}');
  });

  it('writes a number beyond 2^53 with its exact digits', () => {
    expect(stringifyJSON([2 ** 60, -(2 ** 70)])).toBe('[1152921504606846976,-1180591620717411303424]');
    expect(stringifyJSON({ a: 1e21 })).toBe('{"a":1000000000000000000000}');
    expect(stringifyJSON([1e300, 1e40])).toBe('[1e+300,1e+40]');
  });

  it('keeps strings and names that start with NUL and digits', () => {
    const value = { '\u0000123': '\u0000123', list: ['\u00005', '"\u00005', '\\"\u00005', '\u0000-1', 5n] };
    expect(stringifyJSON(value)).toBe(JSON.stringify({ ...value, list: [...value.list.slice(0, 4), 5] }));
  });

  it('drops undefined members and calls toJSON like JSON.stringify', () => {
    const value = { a: undefined, b: [undefined], at: new Date(0), f: () => 1 };
    expect(stringifyJSON(value)).toBe(JSON.stringify(value));
    expect(stringifyJSON({ ...value, n: 1n })).toBe(JSON.stringify({ ...value, n: 1 }));
  });

  it('throws a TypeError for values without a JSON form', () => {
    const circle: unknown[] = [];
    circle.push(circle);
    expect(() => stringifyJSON(circle)).toThrow(TypeError);
    for (const value of [undefined, () => 1, Symbol('s')]) {
      expect(() => stringifyJSON(value)).toThrow(new TypeError('JSON has no form for this value.'));
    }
  });

  it('writes a text that parseJSON reads as the same value', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.json()), fc.constantFrom(undefined, 2), (text, indent) => {
        if (outcome(text, parseJSON).code) return;
        const value = withoutMinusZero(parseJSON(text));
        const written = stringifyJSON(value, indent);
        expect(isDeepStrictEqual(parseJSON(written), value), written).toBe(true);
      }),
      thorough,
    );
  });
});
