import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/lib/errors.js';
import { KeyDefinition, type Variant } from '../../../src/keys/definition/schema.js';
import { issuesOf } from '../../../src/keys/definition/issues.js';
import { inputs, parseDefinition, standardSchema } from '../../../src/keys/definition/parse.js';

function rejection(raw: unknown, variant: Variant = 'update'): AppError {
  try {
    parseDefinition(variant, raw);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('The definition was taken.');
}

const methods = 'GET, HEAD, POST, PUT, DELETE, CONNECT, OPTIONS, TRACE, PATCH, QUERY';
const allowing = (method: string) => ({ accessRights: [{ label: 'a', allowedUrls: [{ methods: [method] }] }] });
const method = ['accessRights', 0, 'allowedUrls', 0, 'methods', 0];
const nest = (levels: number): unknown => (levels === 0 ? 1 : { in: nest(levels - 1) });
const smoothing = { enabled: true, step: 10, delay: 5, threshold: 100, trigger: 0.5 };
const policies = (count: number) => Array.from({ length: count }, (_, index) => `policy ${index}`);

// The code and the message of several rows.
const unknownMethod = ['UNKNOWN_METHOD', `must be one of ${methods}`] as const;
const masked = [
  'MASKED_SECRET',
  'is a placeholder; send the secret itself, null to clear it, or leave it out to keep it',
] as const;
const noShare = ['OUT_OF_RANGE', 'must be above 0 and at most 100'] as const;
const noTimestamp = ['MALFORMED_TIMESTAMP', 'must be Unix seconds, written in digits'] as const;
const notFinite = ['OUT_OF_RANGE', 'must be a finite number'] as const;
const noObject = ['WRONG_TYPE', 'must be an object'] as const;
const inResponsesOnly = ['UNKNOWN_FIELD', 'is in responses only; omit it'] as const;
const conflicting = [
  'CONFLICTING_FIELDS',
  'must have the same value as `enableDetailedRecording`, or be left out',
] as const;
const incomplete = ['INCOMPLETE_SMOOTHING', 'must be above 0 while smoothing is `enabled`'] as const;
const malformedText = ['MALFORMED_TEXT', 'must be well-formed Unicode without NUL'] as const;
const beyond32Bits = ['OUT_OF_RANGE', 'must be from -2147483648 to 2147483647'] as const;

describe('R-12 the rules reject a definition with path, code and message', () => {
  it.each<[string, unknown, (string | number)[], string, string]>([
    ['an unknown method', allowing('FETCH'), method, ...unknownMethod],
    ['a method and more', allowing('GET 1'), method, ...unknownMethod],
    [
      'a weak hash',
      { basicAuthData: { hashType: 'md5' } },
      ['basicAuthData', 'hashType'],
      'WEAK_HASH',
      'must be bcrypt or argon2id; a fast hash does not protect a password',
    ],
    [
      'an unknown hash',
      { basicAuthData: { hashType: 'x-md5' } },
      ['basicAuthData', 'hashType'],
      'UNKNOWN_HASH_TYPE',
      'must be bcrypt or argon2id',
    ],
    ['stars for a secret', { hmacString: '***' }, ['hmacString'], ...masked],
    ['a placeholder', { jwtData: { secret: '<SECRET>' } }, ['jwtData', 'secret'], ...masked],
    ['a share of 0', { monitor: { triggerLimits: [0] } }, ['monitor', 'triggerLimits', 0], ...noShare],
    ['a share over 100', { monitor: { triggerLimits: [100.5] } }, ['monitor', 'triggerLimits', 0], ...noShare],
    ['letters before a moment', { lastUpdated: 'x1' }, ['lastUpdated'], ...noTimestamp],
    ['letters after a moment', { lastUpdated: '1x' }, ['lastUpdated'], ...noTimestamp],
    ['no label', { accessRights: [{}] }, ['accessRights', 0, 'label'], 'MISSING', 'is required'],
    [
      'a label twice',
      { accessRights: [{ label: 'a' }, { label: 'a' }] },
      ['accessRights', 1, 'label'],
      'DUPLICATE_LABEL',
      'must differ from the labels before it',
    ],
    ['an infinite number', { rate: Infinity }, ['rate'], ...notFinite],
    ['no number', { rate: NaN }, ['rate'], ...notFinite],
    ['a rate below -1', { rate: -2 }, ['rate'], 'OUT_OF_RANGE', 'must be at least -1'],
    [
      'an integer above 64 bits',
      { quotaMax: 2n ** 63n },
      ['quotaMax'],
      'OUT_OF_RANGE',
      'must be at most 9223372036854775807',
    ],
    ['a long text', { alias: 'x'.repeat(257) }, ['alias'], 'TOO_LONG', 'must have at most 256 characters'],
    ['many tags', { tags: Array.from({ length: 101 }, String) }, ['tags'], 'TOO_MANY', 'must have at most 100 members'],
    ['a text for a list', { tags: 'x' }, ['tags'], 'WRONG_TYPE', 'must be a list'],
    ['a list for a text', { alias: [] }, ['alias'], 'WRONG_TYPE', 'must be a string'],
    ['a text for a number', { rate: '1' }, ['rate'], 'WRONG_TYPE', 'must be a number'],
    ['a text for an integer', { quotaMax: '1' }, ['quotaMax'], 'WRONG_TYPE', 'must be an integer'],
    ['a number for a flag', { isInactive: 1 }, ['isInactive'], 'WRONG_TYPE', 'must be true or false'],
    ['a text for an object', { monitor: 'x' }, ['monitor'], ...noObject],
    [
      'a preview’s field deep inside',
      { monitor: { keyID: 'x' } },
      ['monitor', 'keyID'],
      'UNKNOWN_FIELD',
      'is an unknown field',
    ],
    ['a flag of a response', { hmacStringSet: true }, ['hmacStringSet'], ...inResponsesOnly],
    [
      'a long password for bcrypt',
      { basicAuthData: { password: 'é'.repeat(37) } },
      ['basicAuthData', 'password'],
      'TOO_LONG',
      'must have at most 72 bytes with bcrypt, which ignores the rest',
    ],
    [
      'two values for one setting',
      { enableDetailRecording: true, enableDetailedRecording: false },
      ['enableDetailRecording'],
      ...conflicting,
    ],
    [
      'a trigger above 1',
      { smoothing: { ...smoothing, trigger: 1.5 } },
      ['smoothing', 'trigger'],
      'OUT_OF_RANGE',
      'must be at most 1',
    ],
    ['a step of 0', { smoothing: { ...smoothing, step: 0 } }, ['smoothing', 'step'], ...incomplete],
    ['a delay of null', { smoothing: { ...smoothing, delay: null } }, ['smoothing', 'delay'], ...incomplete],
    [
      'metadata too deep',
      { metaData: nest(33) },
      ['metaData', ...Array.from({ length: 32 }, () => 'in')],
      'TOO_DEEP',
      'must be nested at most 32 levels deep',
    ],
    [
      'metadata too large',
      { metaData: { list: Array.from({ length: 10_000 }, () => 0), invalid: NaN } },
      ['metaData'],
      'TOO_MANY',
      'must have at most 10000 members in all',
    ],
    [
      'a long text in metadata',
      { metaData: { a: 'x'.repeat(65_537) } },
      ['metaData', 'a'],
      'TOO_LONG',
      'must have at most 65536 characters',
    ],
    ['half a character in metadata', { metaData: { a: '\ud800' } }, ['metaData', 'a'], ...malformedText],
    [
      'half a character in a name',
      { metaData: { '\ud800': 1 } },
      ['metaData', '\ud800'],
      'MALFORMED_TEXT',
      'must have a name of well-formed Unicode without NUL',
    ],
    ['an infinite number in metadata', { metaData: { a: -Infinity } }, ['metaData', 'a'], ...notFinite],
    [
      'a second member of metadata',
      { metaData: { a: [1, { b: 2 }], c: [0, NaN] } },
      ['metaData', 'c', 1],
      ...notFinite,
    ],
    [
      'an integer above 64 bits in metadata',
      { metaData: { a: [2n ** 63n] } },
      ['metaData', 'a', 0],
      'IMPRECISE',
      'is an integer that 64 bits cannot hold',
    ],
    [
      'a reserved name',
      { metaData: { constructor: 1 } },
      ['metaData', 'constructor'],
      'RESERVED_NAME',
      'must have another name',
    ],
    ['metadata that is a list', { metaData: [] }, ['metaData'], ...noObject],
    ['no object', null, [], ...noObject],
    ['nothing', undefined, [], ...noObject],
    ['a text', 'x', [], ...noObject],
    ['a list', [], [], ...noObject],
    [
      'more values than any definition needs',
      { tags: Array.from({ length: 12_000 }, String) },
      [],
      'TOO_MANY',
      'must have at most 12,000 members and items in all',
    ],
    ['a field of previews', { keyID: 'x' }, ['keyID'], 'WRONG_VARIANT', 'belongs to the preview only'],
    ['a misspelt field', { aliass: 'x' }, ['aliass'], 'UNKNOWN_FIELD', 'is an unknown field; did you mean `alias`?'],
    [
      'a flag of a response, in the name of REST',
      { jwtData: { secret_set: true } },
      ['jwtData', 'secret_set'],
      ...inResponsesOnly,
    ],
    ['a fraction', { expires: 1.5 }, ['expires'], 'NOT_INTEGER', 'must be an integer'],
    [
      'an integer that a double cannot hold',
      { rate: 2n ** 53n + 1n },
      ['rate'],
      'IMPRECISE',
      'has more digits than a double-precision number holds',
    ],
    ['an integer above 32 bits', { maxQueryDepth: 2 ** 31 }, ['maxQueryDepth'], ...beyond32Bits],
    ['an integer below 32 bits', { smoothing: { step: -(2 ** 31) - 1 } }, ['smoothing', 'step'], ...beyond32Bits],
    ['a depth below -1', { maxQueryDepth: -2 }, ['maxQueryDepth'], 'OUT_OF_RANGE', 'must be at least -1'],
    ['a blank tag', { tags: [' '] }, ['tags', 0], 'EMPTY', 'must not be empty'],
    [
      'a label of another type',
      { accessRights: [{ label: 1 }] },
      ['accessRights', 0, 'label'],
      'WRONG_TYPE',
      'must be a string',
    ],
    [
      'a label that REST cannot have as a name',
      { accessRights: [{ label: '__proto__' }] },
      ['accessRights', 0, 'label'],
      'RESERVED_NAME',
      'must be another label',
    ],
    [
      'an organization with a slash',
      { orgID: 'a/b' },
      ['orgID'],
      'MALFORMED_ORG_ID',
      'must not hold a slash or a backslash',
    ],
    ['a method in other letters', allowing('poſt'), method, ...unknownMethod],
    ['more before a method', allowing('1 GET'), method, ...unknownMethod],
    [
      'a moment after which no update has a later one',
      { lastUpdated: '9223372032559808512' },
      ['lastUpdated'],
      ...noTimestamp,
    ],
    ['OAuth keys that are no object', { oauthKeys: 'x' }, ['oauthKeys'], ...noObject],
    [
      'two flags that differ, the newer one false',
      { enableDetailRecording: false, enableDetailedRecording: true },
      ['enableDetailRecording'],
      ...conflicting,
    ],
    ['a text with NUL', { alias: 'a\0' }, ['alias'], ...malformedText],
    ['a name like that of a field of the preview', { keyIDs: 1 }, ['keyIDs'], 'UNKNOWN_FIELD', 'is an unknown field'],
  ])('for %s', (_, raw, path, code, message) => {
    const error = rejection(raw);
    expect(error.issues).toStrictEqual([{ path, code, message }]);
    expect(error.message).toBe('The key definition has a problem.');
  });

  it.each([
    ['', 'must not be empty'],
    ['é'.repeat(128), 'must have at most 255 bytes'],
    ['a\u202eb', 'must not hold control or format characters'],
    ['a/b', 'must not hold a slash or a backslash'],
    ['a\\b', 'must not hold a slash or a backslash'],
    ['.', 'must not be a dot segment'],
    ['..', 'must not be a dot segment'],
  ])('for the key identifier %j', (keyID, message) => {
    expect(rejection({ keyID }, 'preview').issues).toContainEqual({
      path: ['keyID'],
      code: 'MALFORMED_KEY_ID',
      message,
    });
  });

  it.each([
    ...['plain', 'PlainText', 'none', 'MD5', 'crc32', 'murmur', 'murmur32', 'murmur64', 'murmur128'],
    ...['1', '224', '256', '384', '512'].flatMap((bits) => [`sha${bits}`, `SHA-${bits}`]),
  ])('for the weak hash %j', (hashType) => {
    const path = ['basicAuthData', 'hashType'];
    expect(rejection({ basicAuthData: { hashType } }).issues).toMatchObject([{ path, code: 'WEAK_HASH' }]);
    const another = rejection({ basicAuthData: { hashType: `${hashType}-x` } });
    expect(another.issues).toMatchObject([{ path, code: 'UNKNOWN_HASH_TYPE' }]);
  });

  it('for a field of updates in a preview', () => {
    expect(rejection({ rsaCertificateID: 'x' }, 'preview').issues).toStrictEqual([
      { path: ['rsaCertificateID'], code: 'WRONG_VARIANT', message: 'belongs to the update only' },
    ]);
  });

  it.each<[unknown, (string | number)[], string, string]>([
    ['\0', ['metaData'], ...malformedText],
    [[1, { a: NaN }], ['metaData', 1, 'a'], ...notFinite],
  ])('for the metadata %j of a preview', (metaData, path, code, message) => {
    expect(rejection({ metaData }, 'preview').issues).toStrictEqual([{ path, code, message }]);
  });

  it('for every problem at once, those of single fields and those between fields', () => {
    const basicAuthData = { hashType: 'x', password: 'x'.repeat(73) };
    const error = rejection({ alias: 1, tagz: [], smoothing: { enabled: true, step: 'x' }, per: -3, basicAuthData });
    expect(error.message).toBe('The key definition has 9 problems.');
    expect(error.issues.map(({ path, code }) => `${path.join('.')} ${code}`).sort()).toStrictEqual([
      'alias WRONG_TYPE',
      'basicAuthData.hashType UNKNOWN_HASH_TYPE',
      'basicAuthData.password TOO_LONG',
      'per OUT_OF_RANGE',
      'smoothing.delay INCOMPLETE_SMOOTHING',
      'smoothing.step WRONG_TYPE',
      'smoothing.threshold INCOMPLETE_SMOOTHING',
      'smoothing.trigger INCOMPLETE_SMOOTHING',
      'tagz UNKNOWN_FIELD',
    ]);
  });
});

describe('the rules accept a definition', () => {
  it.each([
    ['with every method, in any case', allowing(' get ')],
    ['with the last moment of an update', { lastUpdated: '9223372032559808511' }],
    ['with the largest integer of 32 bits', { smoothing: { step: 2 ** 31 - 1 } }],
    ['with null for every field', Object.fromEntries(Object.keys(KeyDefinition.shape).map((name) => [name, null]))],
    ['with null for a field of previews', { keyID: null }],
    ['with one of two names of a flag', { enableDetailRecording: true, enableDetailedRecording: null }],
    ['with a share of 100', { monitor: { triggerLimits: [100] } }],
    ['with stars inside a secret', { hmacString: '***x' }],
    ['with a secret that begins like a placeholder', { hmacString: '<a>b' }],
    ['with a secret that ends like a placeholder', { hmacString: 'b<a>' }],
    ['with a password of 72 bytes', { basicAuthData: { password: 'é'.repeat(36) } }],
    ['with a longer one for argon2id', { basicAuthData: { hashType: 'argon2id', password: 'x'.repeat(73) } }],
    ['with both names of one flag that agree', { enableDetailRecording: true, enableDetailedRecording: true }],
    ['with the deprecated policy beside 100 policies', { applyPolicies: policies(100), applyPolicyID: 'policy' }],
    ['with the least integer of 32 bits', { smoothing: { step: -(2 ** 31) } }],
    ['with smoothing that is complete', { smoothing }],
    ['with a trigger of 1', { smoothing: { ...smoothing, trigger: 1 } }],
    ['with disabled smoothing, for all its other fields', { smoothing: { enabled: false, step: 0 } }],
    ['with metadata of 32 levels', { metaData: nest(32) }],
    ['with metadata of 10,000 members', { metaData: { list: Array.from({ length: 9_999 }, () => 0) } }],
    ['with a text of 65,536 characters in metadata', { metaData: { a: 'x'.repeat(65_536) } }],
    ['with an integer of 64 bits in metadata', { metaData: { a: 2n ** 63n - 1n } }],
  ])('%s', (_, raw) => {
    expect(() => parseDefinition('update', raw)).not.toThrow();
  });

  it('with a key identifier of 255 bytes', () => {
    expect(() => parseDefinition('preview', { keyID: 'x'.repeat(255) })).not.toThrow();
  });
});

it('ignores null for a field of the other variant, and keeps the other fields', () => {
  expect(parseDefinition('update', { keyID: null, alias: 'a', rate: null })).toStrictEqual({ alias: 'a', rate: null });
  expect(parseDefinition('preview', { rsaCertificateID: null, keyID: 'k' })).toStrictEqual({ keyID: 'k' });
  expect(parseDefinition('preview', { rsaCertificateID: null, keyID: null })).toStrictEqual({ keyID: null });
});

it.each([
  ['an empty owner', { orgID: '' }, { orgID: undefined }],
  ['a blank owner, which gateways export', { orgID: ' \t' }, { orgID: undefined }],
  ['an empty HMAC secret', { hmacString: '' }, { hmacString: undefined }],
  ['an empty JWT secret', { jwtData: { secret: '' } }, { jwtData: { secret: undefined } }],
  ['an empty password', { basicAuthData: { password: '' } }, { basicAuthData: { password: undefined } }],
  ['an empty hash type', { basicAuthData: { hashType: '' } }, { basicAuthData: { hashType: undefined } }],
  ['an empty time of the last update', { lastUpdated: '' }, { lastUpdated: undefined }],
])('reads %s as absent, whichever validator runs', (_, raw, parsed) => {
  for (const variant of ['preview', 'update'] as const) {
    expect(parseDefinition(variant, raw)).toStrictEqual(parsed);
    expect(inputs[variant].parse(raw)).toStrictEqual(parsed);
    expect(standardSchema(variant)['~standard'].validate(raw)).toStrictEqual({ value: parsed });
  }
});

it.each([
  ['a blank HMAC secret', { hmacString: ' ' }],
  ['a blank password', { basicAuthData: { password: ' ' } }],
  ['an empty alias', { alias: '' }],
  ['an empty user', { basicAuthData: { user: '' } }],
])('keeps %s', (_, raw) => {
  expect(parseDefinition('update', raw)).toStrictEqual(raw);
});

it.each([
  ['a blank hash type', { basicAuthData: { hashType: ' ' } }, 'UNKNOWN_HASH_TYPE'],
  ['a blank time of the last update', { lastUpdated: ' ' }, 'MALFORMED_TIMESTAMP'],
  ['an empty date of creation', { dateCreated: '' }, 'MALFORMED_DATE'],
  ['an empty tag', { tags: [''] }, 'EMPTY'],
  ['an owner of format characters', { orgID: '\u202e' }, 'MALFORMED_ORG_ID'],
])('rejects %s', (_, raw, code) => {
  expect(rejection(raw).issues).toMatchObject([{ code }]);
});

it('stops at one issue more in free-form JSON than a response lists', () => {
  const metaData = Array.from({ length: 5_000 }, () => NaN);
  expect(inputs.preview.safeParse({ metaData }).error?.issues).toHaveLength(101);
});

it('is offered to GraphQL as a standard schema, which returns the same value or issues as zod', () => {
  const { validate, ...standard } = standardSchema('update')['~standard'];
  expect(standard).toMatchObject({ version: 1, vendor: 'zod' });
  expect(validate({ alias: 'a', expires: 1 })).toStrictEqual({ value: { alias: 'a', expires: 1n } });
  expect(validate({ alias: 1, smoothing: { enabled: true, step: 1, delay: 1, threshold: 1 } })).toMatchObject({
    issues: [{ path: ['alias'] }, { path: ['smoothing', 'trigger'] }],
  });
});

it('copies no member without a problem of its own', () => {
  // A proxy cannot be cloned, and stands for 10,000 members of free-form JSON.
  const metaData = new Proxy({}, {});
  const result = inputs.preview.safeParse({ alias: 1, metaData, smoothing: { enabled: true } });
  const paths = result.error?.issues.map(({ path }) => path.join('.'));
  expect(paths).toEqual(['alias', 'smoothing.step', 'smoothing.delay', 'smoothing.threshold', 'smoothing.trigger']);
});

it('leaves what it rejects as it was', () => {
  const raw = { metaData: { count: NaN, name: 'n' } };
  expect(rejection(raw).issues).toMatchObject([{ path: ['metaData', 'count'] }]);
  expect(raw).toStrictEqual({ metaData: { count: NaN, name: 'n' } });
});

it('reports an issue of zod that no field has so far', () => {
  const issue = { code: 'not_multiple_of' as const, divisor: 2, path: ['rate'], message: '', input: 1 };
  expect(issuesOf([issue], 'update')).toStrictEqual([{ path: ['rate'], code: 'WRONG_TYPE', message: 'is not valid' }]);
});
