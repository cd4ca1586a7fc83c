import fc from 'fast-check';
import { fields, isObject, jsonText, NumberText, type Wire, type WireObject } from './wire.js';

/*
 * Definitions in the form of REST: sound ones, and ones with every kind of thing wrong with them. What the two faces
 * read differently on purpose is left out here and has its own tests beside the parity suite: one item for a list,
 * decimal text for a 64-bit integer, a number for an identifier, a number beyond 2^53-1 in free-form JSON.
 */

type Value = fc.Arbitrary<Wire>;

interface Generator {
  readonly sound: Value;
  readonly broken: Value;
}

/** One of the numbers in a text, separated by spaces. */
const number = (texts: string) => fc.constantFrom(...texts.split(' ')).map((text): Wire => new NumberText(text));
const one = (...values: Wire[]): Value => fc.constantFrom(...values);

// Strings

export const oddTexts = [
  '',
  ' ',
  '\t\r\n',
  '\u0001\u001b[31m',
  '\u007f\u0085',
  '\u202eright to left',
  '\u2066\u2069',
  '\u200b\u200d\ufeff',
  '\u2028\u2029',
  '👩‍👩‍👧‍👦🏳️‍🌈',
  'e\u0301',
  'ﷺ',
  '田中さん',
  'null',
  'true',
  'NaN',
  '1.5',
  'toString',
  'hasOwnProperty',
  '__defineGetter__',
  "'; DROP TABLE keys;--",
  '<script>alert(1)</script>',
  '${7*7}{{7*7}}%s%n',
  '../../../etc/passwd',
  '%00%ff',
  '\\u0000',
  '"quoted" and \\escaped\\',
];
export const unsoundTexts = ['\u0000', 'a\u0000b', '\ud800', 'x\udfff', '\udc00\ud800', 'half \ud83d'];
export const reservedNames = ['__proto__', 'constructor', 'prototype'];

const words = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^[a-z][a-z0-9-]{0,11}$/) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).filter((text) => !text.includes('\0')),
  },
  { weight: 2, arbitrary: fc.constantFrom(...oddTexts) },
);
const accepting = words.filter((text) => text.trim() !== '');
const longer = (length: number) =>
  (length > 5000 ? fc.constant('x') : fc.constantFrom('x', 'é', '漢')).map((character) => character.repeat(length));
const wrongForText = fc.oneof(one(true, false, [], {}, ['x'], { a: 'b' }), number('5 1.5 -0 12345678901234567890'));

function text(max = 256): Generator {
  return {
    sound: fc.oneof({ weight: 12, arbitrary: words }, { weight: 1, arbitrary: longer(max) }),
    broken: fc.oneof(fc.constantFrom(...unsoundTexts), longer(max + 1), wrongForText),
  };
}

/** A text with rules of its own, some that hold and some that do not. */
function ruled(sound: readonly string[], broken: readonly string[], invalid: Value = wrongForText): Generator {
  return { sound: fc.constantFrom(...sound), broken: fc.oneof(fc.constantFrom(...broken, ...unsoundTexts), invalid) };
}

const wrongForList = { sound: fc.constant<Wire>(null), broken: fc.constant<Wire>({}) };

function texts(item: fc.Arbitrary<string>, brokenItems: readonly Wire[], most = 100): Generator {
  const broken = fc.oneof(
    fc.constantFrom<Wire>('', '  ', ...unsoundTexts, null, true, [], ['x'], {}, ...brokenItems),
    longer(513),
  );
  return {
    sound: fc.oneof(
      { weight: 10, arbitrary: fc.array(item, { maxLength: 4 }) },
      { weight: 1, arbitrary: fc.array(fc.constantFrom('a', 'b', ' a', 'a '), { maxLength: 6 }) },
      { weight: 1, arbitrary: fc.constant(Array.from({ length: most }, (_, index) => `item ${index}`)) },
    ),
    broken: fc.oneof(
      fc.tuple(fc.array(item, { maxLength: 2 }), broken).map(([items, bad]) => [...items, bad]),
      fc.constant(Array.from({ length: most + 1 }, (_, index) => `item ${index}`)),
    ),
  };
}

// Numbers

const wrongForNumber = one(true, 'five', '', [], {}, ['5'], '1e3', '0x10', ' 5', '9223372036854775808.0');
const anyInt64 = fc
  .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  .map((value): Wire => new NumberText(String(value)));
const beyondAll = number('1e400 -1e400 1e-400 9007199254740993.5');
const integersFrom = (from: bigint) =>
  fc.bigInt({ min: from, max: 2n ** 63n - 1n }).map((value): Wire => new NumberText(String(value)));

const unlimitedInt64: Generator = {
  sound: fc.oneof(
    fc.integer({ min: -1, max: 100_000 }),
    number('-1 -0 0 1 1.0 1e3 -1e0 10e-1 9007199254740991 9007199254740992 9007199254740993'),
    number('9223372036854775807 9.223372036854775807e18 92233720368547758070e-1 1.723207234e+09 1E+2'),
    integersFrom(-1n),
  ),
  broken: fc.oneof(
    number('-2 1.5 -1.5 0.1 1e-1 9223372036854775808 -9223372036854775808 1e19 1e40 1e300'),
    number('123456789012345678901234567890 -1.0000000000000002 4503599627370496.5'),
    beyondAll,
    wrongForNumber,
  ),
};

const int64: Generator = {
  sound: fc.oneof(unlimitedInt64.sound, number('-2 -9223372036854775808 -9007199254740993'), anyInt64),
  broken: fc.oneof(
    number('1.5 1e-1 9223372036854775808 -9223372036854775809 1e19 -1e300 18446744073709551616'),
    beyondAll,
    wrongForNumber,
  ),
};

const int32From = (from: number): Generator => ({
  sound: fc.oneof(fc.integer({ min: from, max: 2 ** 31 - 1 }), number('0 -0 1e3 2147483647 7.0')),
  broken: fc.oneof(
    number(`2147483648 -2147483649 1.5 9007199254740993 9223372036854775808${from === -1 ? ' -2' : ''}`),
    beyondAll,
    wrongForNumber,
    one('5', '-1'),
  ),
});

const doubleFrom = (from: number): Generator => ({
  sound: fc.oneof(
    fc
      .double({ min: from, noNaN: true, noDefaultInfinity: true })
      .map((value): Wire => new NumberText(JSON.stringify(value))),
    number('-0 -0.0 0 -1 1.5 1e3 1e300 5e-324 1.7976931348623157e308 9007199254740992 1e22'),
  ),
  broken: fc.oneof(
    number(`9007199254740993 -9223372036854775809 12345678901234567890${from === -1 ? ' -2 -1.0000000001' : ''}`),
    beyondAll,
    wrongForNumber,
    one('5', '1.5'),
  ),
});

const unlimitedDouble = doubleFrom(-1);
const flag: Generator = { sound: fc.boolean(), broken: fc.oneof(one('true', '', [], {}), number('0 1')) };

// Objects

/** Some of the members, each sound; or some of them, of which at least one is broken, or a member that is none. */
function objectOf(members: Readonly<Record<string, Generator>>, unknownKeys: Value = wrongForText): Generator {
  const generators = Object.values(members);
  const names = Object.keys(members);
  const sound = fc.record(
    Object.fromEntries(names.map((name, index) => [name, orNull(generators[index]?.sound ?? fc.constant(null))])),
    { requiredKeys: [], noNullPrototype: true },
  ) as fc.Arbitrary<WireObject>;
  const brokenMember = fc.oneof(...names.map((name, index) => brokenAt(name, generators[index] ?? wrongForList)));
  const broken = fc
    .tuple(
      sound,
      fc.array(fc.oneof({ weight: 4, arbitrary: brokenMember }, { weight: 1, arbitrary: unknown(members) }), {
        minLength: 1,
        maxLength: 3,
      }),
    )
    .map(([object, bad]) => Object.fromEntries<Wire>([...Object.entries(object), ...bad]));
  return {
    sound,
    broken: fc.oneof(
      { weight: 5, arbitrary: broken },
      { weight: 1, arbitrary: unknownKeys.filter((value) => !isObject(value)) },
    ),
  };
}

const orNull = (value: Value): Value =>
  fc.oneof({ weight: 12, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) });
const brokenAt = (name: string, { broken }: Generator) => broken.map((value): [string, Wire] => [name, value]);

const knownNames = namesOf(fields);

function namesOf(within: typeof fields): string[] {
  return Object.entries(within).flatMap(([rest, [graphql, inside]]) => [
    rest,
    graphql,
    ...(inside ? namesOf(inside.fields) : []),
  ]);
}

/** A member with a name that is none of these: misspelt, of the other face, from elsewhere, or hostile. */
function unknown(members: Readonly<Record<string, Generator>>): fc.Arbitrary<[string, Wire]> {
  const names = fc.oneof(
    fc.constantFrom(...knownNames),
    fc.constantFrom(...knownNames).map((name) => `${name}s`),
    fc.constantFrom(...reservedNames, ...oddTexts, ...unsoundTexts, 'x'.repeat(300)),
    fc.stringMatching(/^[a-z_]{1,12}$/),
  );
  return fc.tuple(
    names.filter((name) => !Object.hasOwn(members, name) && !['label', '(label)'].includes(name)),
    fc.oneof(one(null, true, 'x', [], {}), number('1 9007199254740993')),
  );
}

function listOf({ sound, broken }: Generator, most: number): Generator {
  return {
    sound: fc.oneof(
      { weight: 15, arbitrary: fc.array(sound, { maxLength: 3 }) },
      { weight: 1, arbitrary: fc.constant(Array.from({ length: most }, () => ({}))) },
    ),
    broken: fc.oneof(
      {
        weight: 6,
        arbitrary: fc
          .tuple(fc.array(sound, { maxLength: 2 }), fc.oneof(broken, one(null, 'x', [])))
          .map(([items, bad]) => [...items, bad]),
      },
      { weight: 1, arbitrary: fc.constant(Array.from({ length: most + 1 }, () => ({}))) },
    ),
  };
}

/** An object of labels and entries. */
function mapOf({ sound, broken }: Generator): Generator {
  const label = fc.oneof(
    accepting,
    fc.constantFrom('0', '7', 'a b', 'x'.repeat(256), 'label', 'limit', 'api_id', 'quotaMax'),
  );
  const badLabel = fc.constantFrom('', ' ', ...reservedNames, ...unsoundTexts, 'x'.repeat(257));
  const entries = fc.array(fc.tuple(label, orNull(sound)), { maxLength: 3 });
  const bad = fc.oneof(fc.tuple(label, fc.oneof(broken, one(true, 'x', []))), fc.tuple(badLabel, sound));
  return {
    sound: entries.map((pairs) => Object.fromEntries(pairs)),
    broken: fc
      .tuple(entries, fc.array(bad, { minLength: 1, maxLength: 2 }))
      .map(([pairs, more]) => Object.fromEntries([...pairs, ...more])),
  };
}

// Free-form JSON

const freeLeaf: Value = fc.oneof(
  one(null, true, false),
  words,
  fc.maxSafeInteger(),
  number('-0 1.5 1e3 9007199254740991 -9007199254740991.0 1e-7'),
);
const freeName = fc.oneof(words, fc.constantFrom(...knownNames));
const free: Value = fc.letrec<{ value: Wire }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    freeLeaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(freeName, tie('value'), { maxKeys: 3, noNullPrototype: true }) as Value,
  ),
})).value;
const freeObject = fc.dictionary(freeName, free, { maxKeys: 4, noNullPrototype: true }) as fc.Arbitrary<WireObject>;
const nestedTo = (levels: number) => Array.from({ length: levels }).reduce<Wire>((inside) => ({ a: inside }), 'x');
const badFree: Value = fc.oneof(
  fc.constantFrom<Wire>(
    ...unsoundTexts,
    nestedTo(33),
    nestedTo(40),
    nestedTo(70),
    'x'.repeat(65_537),
    Array.from({ length: 10_001 }, () => null),
  ),
  number('100000000000000000001 -9223372036854775809'),
  beyondAll,
  fc.constantFrom(...reservedNames, ...unsoundTexts).map((name) => Object.fromEntries([[name, 1]])),
);
const badFreeObject = fc
  .tuple(freeObject, freeName, badFree)
  .map(([object, name, bad]) => Object.fromEntries([...Object.entries(object), [name, bad]]));

// The definition

const limit: Record<string, Generator> = {
  per: unlimitedDouble,
  quota_max: unlimitedInt64,
  quota_remaining: unlimitedInt64,
  quota_renewal_rate: unlimitedInt64,
  rate: unlimitedDouble,
  throttle_interval: unlimitedDouble,
  throttle_retry_limit: int32From(-1),
};

const methods = texts(
  fc.constantFrom('GET', 'get', 'Post', ' put ', 'DELETE', 'oPtIoNs', 'patch', 'QUERY', 'connect', 'trace', 'HEAD'),
  ['FETCH', 'G ET', 'GETT', '*', 'gét', 'po\u017ft', 'opt\u0131ons'],
  50,
);

const accessRight = objectOf({
  api_id: text(),
  api_name: text(),
  versions: texts(accepting, []),
  allowed_urls: listOf(
    objectOf({ methods, url: ruled(['/', '/a/.*', '(a+)+$', '漢'], ['', '  ', 'x'.repeat(2049)]) }),
    1000,
  ),
  limit: objectOf(limit),
});

const secret = (max: number) =>
  ruled(
    ['', 's3cret', '*x*', '<x', 'p\u0001', '🗝️', 'x'.repeat(max)],
    ['***', '*', '•••', '<PASSWORD>', '<>', 'x'.repeat(max + 1)],
  );

const smoothingOff = objectOf({
  delay: int32From(-(2 ** 31)),
  step: int32From(-(2 ** 31)),
  threshold: int32From(-(2 ** 31)),
  trigger: doubleFrom(-Number.MAX_VALUE),
});
const smoothingOn = { enabled: true, delay: 30, step: 10, threshold: 5, trigger: 0.5 };
const smoothing: Generator = {
  sound: fc.oneof(
    smoothingOff.sound,
    fc.constant(smoothingOn),
    fc.constant({ ...smoothingOn, enabled: false, step: 0 }),
  ),
  broken: fc.oneof(
    smoothingOff.broken,
    fc.constantFrom<Wire>(
      { enabled: true },
      { ...smoothingOn, trigger: 1.5 },
      { ...smoothingOn, step: 0, delay: -1 },
      { ...smoothingOn, threshold: null },
      { enabled: 1 },
    ),
  ),
};

const percents: Generator = {
  sound: fc.oneof(
    fc.array(fc.constantFrom(100, 90, 75.5, 50, 0.1), { maxLength: 4 }),
    fc.constant(Array.from({ length: 100 }, (_, index) => 100 - index / 2)),
  ),
  broken: fc.oneof(
    one([0], [-1], [100.1], [50, 'x'], [null], [[90]], [{}]),
    fc.constant(Array.from({ length: 101 }, () => 5)),
    beyondAll.map((value) => [90, value]),
  ),
};

const dates = ruled(
  ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.123456+05:30', '2024-02-29T23:59:59-11:00'],
  [
    '',
    'yesterday',
    '2026-13-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-01-31',
    '2026-01-31T12:00:00',
    'x'.repeat(65),
  ],
);

const expires: Generator = {
  ...int64,
  sound: fc.oneof(int64.sound, number('0 1 1769860800 1893456000 1893456000000')),
};

/** Fields of both operations. */
const shared: Readonly<Record<string, Generator>> = {
  access_rights: mapOf(accessRight),
  alias: text(),
  allowance: doubleFrom(-Number.MAX_VALUE),
  apply_policies: texts(accepting, []),
  apply_policy_id: text(512),
  basic_auth_data: objectOf({
    hash_type: ruled(['bcrypt', 'argon2id', ''], ['md5', 'SHA256', 'BCRYPT', 'scrypt', 'pbkdf2', 'argon2i', ' bcrypt']),
    user: text(),
  }),
  certificate: text(65_536),
  data_expires: int64,
  date_created: dates,
  enable_detailed_recording: flag,
  expires,
  hmac_enabled: flag,
  hmac_string: secret(4096),
  id_extractor_deadline: int64,
  is_inactive: flag,
  jwt_data: objectOf({ secret: secret(16_384) }),
  last_check: int64,
  last_updated: ruled(
    ['0', '1700000000', '9223372032559808511', ''],
    ['9223372036854775807', '-1', '1.5', '1e9', 'now', '12345678901234567890'],
  ),
  max_query_depth: int32From(-1),
  monitor: objectOf({ trigger_limits: percents }),
  oauth_client_id: text(),
  oauth_keys: { sound: freeObject, broken: fc.oneof(badFreeObject, one('x', true, []), number('1')) },
  ...limit,
  quota_renews: int64,
  session_lifetime: int64,
  smoothing,
  tags: texts(accepting, []),
};

const password: Generator = {
  sound: fc.constantFrom<Wire>(
    { password: 'p4ssword' },
    { password: 'x'.repeat(72) },
    { password: 'x'.repeat(80), hash_type: 'argon2id' },
    { password: null },
    { password: '' },
  ),
  broken: fc.constantFrom<Wire>(
    { password: 'x'.repeat(73) },
    { password: '漢'.repeat(25), hash_type: 'bcrypt' },
    { password: '<PASSWORD>' },
    { password: '***', hash_type: 'md5' },
    { password: 5 },
    { password: '\ud800' },
    { password: 'x'.repeat(1025), hash_type: 'argon2id' },
  ),
};

/** Owners that are wrong for the stored key are found by the update alone. */
const orgID: Generator = { sound: fc.constantFrom('acme', 'acme', 'acme', null, '', ' '), broken: text().broken };
const ownerElsewhere = fc.constantFrom('globex', 'ACME', 'acme ');

const keyID = ruled(
  ['k', 'acme0123', 'ключ', 'a b', '%2e', 'e\u0301', 'x'.repeat(255)],
  ['', '.', '..', 'a/b', 'a\\b', 'a\nb', '\u202ea', 'x'.repeat(256), '漢'.repeat(86)],
  one(true, [], {}),
);

const previewOnly: Readonly<Record<string, Generator>> = {
  mtls_static_certificate_bindings: texts(accepting, []),
  key_id: keyID,
  meta_data: { sound: free, broken: fc.oneof(badFree, badFreeObject) },
};
const updateOnly: Readonly<Record<string, Generator>> = {
  enable_http_signature_validation: flag,
  rsa_certificate_id: text(),
  enable_detail_recording: flag,
  meta_data: { sound: freeObject, broken: fc.oneof(badFreeObject, one('x', true, []), number('1')) },
};

const everyGenerator: Readonly<Record<string, Generator>> = { ...shared, org_id: orgID, ...previewOnly, ...updateOnly };

function soundDefinition(members: Readonly<Record<string, Generator>>): fc.Arbitrary<WireObject> {
  const chosen = Object.entries({ ...members, org_id: orgID }).map(
    ([name, { sound }]) => [name, fc.option(orNull(sound), { freq: 2, nil: undefined })] as const,
  );
  const withPassword = fc.oneof(
    { weight: 40, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: password.sound.map((basic) => ({ basic_auth_data: basic })) },
  );
  const elsewhere = fc.oneof(
    { weight: 40, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: ownerElsewhere.map((owner) => ({ org_id: owner })) },
  );
  return fc
    .tuple(fc.record(Object.fromEntries(chosen)), withPassword, elsewhere)
    .map(([some, ...more]) => Object.assign({}, withoutUndefined(some), ...more) as WireObject);
}

function withoutUndefined(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined));
}

/** What is wrong with a definition: a field with a bad value, a field of the other operation, a name that is no field. */
const flaw: fc.Arbitrary<[string, Wire]> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.oneof(...Object.entries(everyGenerator).map(([name, generator]) => brokenAt(name, generator))),
  },
  { weight: 1, arbitrary: brokenAt('basic_auth_data', password) },
  { weight: 1, arbitrary: unknown(everyGenerator) },
);

/** A definition of the fields that both operations have, sound in itself. */
export const sharedDefinition = soundDefinition({ ...shared, meta_data: { sound: freeObject, broken: badFreeObject } });

/** Sound definitions of either operation, which for the other are only sound where they have none of its own fields. */
export const soundDefinitions = fc.oneof(
  { weight: 3, arbitrary: sharedDefinition },
  { weight: 1, arbitrary: soundDefinition({ ...shared, ...previewOnly }) },
  { weight: 1, arbitrary: soundDefinition({ ...shared, ...updateOnly }) },
);

/** Definitions with one flaw or a few. */
export const brokenDefinitions = fc
  .tuple(soundDefinitions, fc.array(flaw, { minLength: 1, maxLength: 4 }))
  .map(([definition, flaws]) => Object.fromEntries<Wire>([...Object.entries(definition), ...flaws]));

/** GraphQL takes bodies of half the size that REST takes, and needs some of it for the query. */
const fitsBoth = (definition: Wire) => Buffer.byteLength(jsonText(definition)) < 120 * 1024;

/** Anything that a client may send: half of it sound, half of it not. */
export const definitions = fc.oneof(soundDefinitions, brokenDefinitions).filter(fitsBoth);
