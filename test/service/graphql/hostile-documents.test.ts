import { describe, expect, it } from 'vitest';
import { dataOf, errorsOf, issuesOf } from '../../support/responses.js';
import { startSharedApp } from '../../support/app.js';

const t = await startSharedApp();

const times = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => part(index)).join(' ');

/** `{ ...F0 }`, where each fragment spreads the next so many times. */
const chain = (length: number, width: number, last: string) =>
  `{ ...F0 } ${times(length, (index) => `fragment F${index} on Query { ${index + 1 < length ? `...F${index + 1} `.repeat(width) : last} }`)}`;

describe('hostile documents', () => {
  it.each([
    ['G-07 a chain of fragments that doubles 30 times', chain(31, 2, '__typename'), /costs more than a billion/],
    ['G-07 a chain of fragments that doubles 80 times', chain(81, 2, '__typename'), /costs more than a billion/],
    [
      'G-07 a chain of fragments that doubles an alias 30 times',
      chain(31, 2, 'a: __typename'),
      /more than a billion aliases/,
    ],
    [
      'G-07 a fragment that spreads itself',
      '{ ...A } fragment A on Query { ...A }',
      /Cannot spread fragment "A" within itself/,
    ],
    [
      'G-07 a circle of fragments',
      '{ ...A } fragment A on Query { ...B ...B } fragment B on Query { ...A ...A }',
      /within itself via "B"/,
    ],
    [
      'G-07 a circle of fragments through fields',
      '{ __schema { types { ...A } } } fragment A on __Type { fields { type { ...A } } }',
      /"A" within itself|introspection depth/,
    ],
  ])('%s is rejected', async (_, query, why) => {
    const response = await t.graphql(query);
    expect(errorsOf(response).length).toBeGreaterThan(0);
    for (const { message, extensions } of errorsOf(response)) {
      expect(extensions.code).toBe('INVALID');
      expect(message).toMatch(why);
    }
    expect(response.body).not.toHaveProperty('data');
  });

  it('G-08 returns a field that is repeated 500 times once', async () => {
    expect((await t.graphql(`{ ${'__typename '.repeat(500)} }`)).body).toStrictEqual({ data: { __typename: 'Query' } });
  });

  it('G-07 rejects a document above the limits without traversing it for a better error', async () => {
    const wrong = chain(31, 2, 'previewKey(input: {rate: "x"}) { nope }');
    expect(errorsOf(await t.graphql(wrong))[0]?.message).toContain('costs more than a billion');
    const wide = chain(8, 4, '__typename').replace('{ ...F0 }', '{ nope ...F0 }');
    expect(errorsOf(await t.graphql(wide))[0]?.message).toContain('Cannot query field "nope"');
  });

  it.each([
    ['lists', '[', ']', 980],
    ['objects', '{a:', '}', 320],
  ])('rejects values of %s at the maximum nesting without an internal error', async (_, open, close, depth) => {
    for (const literal of [
      open.repeat(depth),
      `${open.repeat(depth)}1${close.repeat(depth)}`,
      `${open.repeat(depth / 2)}1${close.repeat(depth / 2)}`,
    ]) {
      for (const query of [
        `{ previewKey(input: {metaData: ${literal}}) { keyID } }`,
        `{ previewKey(input: {tags: ${literal}}) { keyID } }`,
        `query ($m: JSON = ${literal}) { previewKey(input: {metaData: $m}) { keyID } }`,
      ]) {
        expect(errorsOf(await t.graphql(query))[0]?.extensions.code).toBe('INVALID');
      }
    }
    expect(t.logs()).not.toContain('internal error');
  });

  it.each([
    ['selections', '{a'.repeat(20_000)],
    ['selections in little space', `${'{a'.repeat(330)}${'}'.repeat(330)}`],
    ['types', `query ($a: ${'['.repeat(480)}Int${']'.repeat(480)}) { a }`],
    ['inline fragments', `{ ${'... { '.repeat(300)} a ${'} '.repeat(300)} }`],
  ])('rejects %s at the maximum nesting without an internal error', async (_, query) => {
    expect(errorsOf(await t.graphql(query))[0]?.extensions.code).toBe('INVALID');
    expect(t.logs()).not.toContain('internal error');
  });

  it('does not count brackets in strings', async () => {
    const response = await t.graphql(`{ previewKey(input: {alias: "${'('.repeat(250)}"}) { keyID } }`);
    expect(dataOf(response)).toHaveProperty('keyID');
  });
});

describe('hostile documents of a router', () => {
  const send = async (query: string) => {
    const { secret } = await t.issue('service', { scopes: ['read', 'router'] });
    return t.graphql(query, {}, { 'x-svc-authorization': secret });
  };

  it('merge 550 selections of the same fields', async () => {
    const selection = '... { orgKeys(first: 1) { edges { node { keyID } } } }';
    expect(dataOf(await send(`{ ${times(550, () => selection)} }`))).toEqual({ edges: [] });
  });

  it.each([
    [
      'fragments',
      (n: number) => `...F${n}`,
      (n: number) => `fragment F${n} on Query { orgKeys(first: ${n}) { __typename } }`,
    ],
    ['inline fragments', (n: number) => `... { orgKeys(first: ${n}) { __typename } }`, () => ''],
  ])('report the first conflict of 500 %s with different arguments', async (_, selection, definition) => {
    const errors = errorsOf(await send(`{ ${times(500, selection)} } ${times(500, definition)}`));
    expect(errors.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^Fields "orgKeys" conflict because they have differing arguments\./),
    ]);
  });

  it.each([
    ['fields', `{ ${times(3_000, (n) => `x${n}`)} }`],
    ['arguments', `{ orgKeys(${times(3_000, (n) => `x${n}: 1`)}) { __typename } }`],
    ['fragments', `{ ${times(3_000, (n) => `...F${n}`)} }`],
  ])('report the first 3 of 3,000 unknown %s', async (_, query) => {
    const messages = errorsOf(await send(query)).map(({ message }) => message);
    expect(messages).toHaveLength(4);
    expect(messages[3]).toContain('Too many validation errors');
  });

  it('state the positions of the first 3 of 3,200 unknown members, whose errors would all quote the literal', async () => {
    const query = `{ previewKey(input: { ${times(3_200, (n) => `x${n}: 1`)} }) { keyHash } }`;
    const [error] = errorsOf(await send(query)) as { locations?: unknown[] }[];
    expect(error?.locations).toHaveLength(3);
  });
});

describe('hostile definitions', () => {
  const unknown = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`alia${index}`, 1]));
  const one = 'previewKey(input: $input) { keyID }';

  it('list the first 100 of 9,000 unknown fields, with suggestions for the first 20', async () => {
    for (const response of [
      await t.graphql(`query ($input: PreviewKeyInput!) { ${one} }`, { input: unknown(9000) }),
      await t.preview(unknown(9000)),
    ]) {
      expect(issuesOf(response)).toHaveLength(100);
      expect(response.text).toContain('only the first 100 problems are listed');
      expect(response.text.match(/did you mean/g)).toHaveLength(20);
    }
  });

  it('are validated once, however often a rejected operation uses them', async () => {
    const query = `query ($input: PreviewKeyInput!) { ${times(70, () => one)} ${times(15, (index) => `a${index}: ${one}`)} }`;
    expect(issuesOf(await t.graphql(query, { input: unknown(5000) }))).toHaveLength(100);
  });
});
