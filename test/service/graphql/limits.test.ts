import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getIntrospectionQuery, Kind, parse, print, separateOperations, type DocumentNode } from 'graphql';
import { describe, expect, it } from 'vitest';
import type { Scope } from '../../../src/keys/key.js';
import { limits } from '../../../src/graphql/execution/limits.js';
import { calculateComplexity } from '../../../src/graphql/execution/complexity.js';
import { schema } from '../../../src/graphql/schema/api-schema.js';
import { codeOf, dataOf, errorsOf } from '../../support/responses.js';
import { noCredentials, startOwnApp, startSharedApp, type TestResponse } from '../../support/app.js';
import { fullUpdate, hashOf } from '../../support/factories.js';
import { serveWith } from '../../support/overridden-server.js';
import { expectNoChange, stateOf } from '../../support/state.js';

const t = await startSharedApp();
const many = Array.from({ length: 101 }, (_, index) => ({ key_id: `key-${index}`, ...fullUpdate }));
await t.importKeys(...many, { key_id: 'k1', org_id: 'globex' });

const times = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => part(i)).join(' ');
const nested = (depth: number, name = 'a') => `${`${name} { `.repeat(depth - 1)}${name}${' }'.repeat(depth - 1)}`;

/** The message of an operation that was rejected by one limit, in the form of every rejection. */
function rejectionOf(response: TestResponse): string {
  const errors = errorsOf(response);
  expect(errors).toHaveLength(1);
  expect(response.body).not.toHaveProperty('data');
  expect(errors[0]?.extensions.code).toBe('INVALID');
  const [issue, ...others] = errors[0]?.extensions.issues ?? [];
  expect(others).toEqual([]);
  expect(issue?.path).toBe('query');
  expect(errors[0]?.message).toBe(`The operation ${issue?.message}.`);
  return errors[0]?.message ?? '';
}

/** Whether an operation passes the limits, before validation by GraphQL. */
const passes = (response: TestResponse) => !response.text.includes('; the maximum is ');

describe('depth', () => {
  it('G-02 allows a depth of 10 and rejects 11', async () => {
    expect(passes(await t.graphql(`{ ${nested(10)} }`))).toBe(true);
    expect(rejectionOf(await t.graphql(`{ ${nested(11)} }`))).toBe(
      'The operation nests fields 11 deep; the maximum is 10.',
    );
  });

  it.each([
    ['a fragment', `{ ${nested(5)} ...F } fragment F on Query { ${nested(11)} }`],
    [
      'fragments in fields',
      `{ a { ...F } } fragment F on Query { ${nested(5, 'b').replace(/b }/, '...G }')} } fragment G on Query { ${nested(7)} }`,
    ],
    ['inline fragments', `{ ... { ... on Query { ${nested(11)} } } }`],
    ['aliases', `{ ${nested(11, 'x: a')} }`],
    ['a fragment named __schema', `{ ...__schema } fragment __schema on Query { ${nested(11)} }`],
    ['an operation named __schema', `query __schema { ${nested(11)} }`],
    [
      'an operation named IntrospectionQuery',
      `query IntrospectionQuery { __schema { queryType { name } } ${nested(11)} }`,
    ],
    ['a field called __schema further in', `{ a { __schema { ${nested(9)} } } }`],
  ])('G-02 counts the depth of %s', async (_, query) => {
    expect(rejectionOf(await t.graphql(query))).toMatch(/nests fields 1[12] deep/);
  });

  it('G-02 allows the deepest path of the schema', async () => {
    const query = '{ orgKeys { edges { node { history { edges { node { changes { path } } } } } } } }';
    expect(dataOf(await t.graphql(query))).toHaveProperty('edges');
  });
});

describe('aliases', () => {
  const aliased = (count: number) => times(count, (index) => `a${index}: __typename`);

  it('G-03 rejects 16 aliases, including __typename', async () => {
    expect(Object.keys((await t.graphql(`{ ${aliased(15)} }`)).body['data'] as object)).toHaveLength(15);
    expect(rejectionOf(await t.graphql(`{ ${aliased(16)} }`))).toBe('The operation has 16 aliases; the maximum is 15.');
    expect(rejectionOf(await t.graphql(`{ ${aliased(101)} }`))).toContain('has 101 aliases');
  });

  it('G-03 counts aliases in fields, and in a fragment each time it is spread', async () => {
    const inside = (count: number) => `{ a: orgKeys(first: 1) { ...E } b: orgKeys(first: 1) { ...E } }
      fragment E on OrgKeyConnection { edges { ${times(count, (index) => `c${index}: cursor`)} } }`;
    expect(dataOf(await t.graphql(inside(6).replace('a: ', '')))).toHaveProperty('edges');
    expect(rejectionOf(await t.graphql(inside(7)))).toContain('has 16 aliases');
  });

  it('G-03 limits aliases with and without a credential', async () => {
    expect(rejectionOf(await t.graphql(`{ ${aliased(16)} }`, {}, noCredentials))).toContain('has 16 aliases');
  });
});

describe('directives', () => {
  it('G-04 rejects 6 directives, including a repeated @skip', async () => {
    const skipping = (count: number) =>
      `query ($no: Boolean = false) { ${times(count, () => '__typename @skip(if: $no)')} }`;
    expect(dataOf<string>(await t.graphql(skipping(5)))).toBe('Query');
    expect(rejectionOf(await t.graphql(skipping(6)))).toBe('The operation has 6 directives; the maximum is 5.');
    const repeated = `{ __typename ${'@skip(if: false) '.repeat(6)} }`;
    expect(rejectionOf(await t.graphql(repeated))).toContain('has 6 directives');
  });

  it.each([
    ['fields', '{ __typename @aa @aa @aa @aa @aa @aa @aa @aa @aa @aa }'],
    ['the operation', `query ${'@aa '.repeat(10)}{ __typename }`],
    ['its variables', `query ($a: Int ${'@aa '.repeat(10)}) { __typename }`],
    ['inline fragments', `{ ... ${'@aa '.repeat(10)} { __typename } }`],
    ['spreads', `{ ...F ${'@aa '.repeat(10)} } fragment F on Query { __typename }`],
    [
      'fragments, for each time they are spread',
      `{ ...F ...F } fragment F on Query ${'@aa '.repeat(5)} { __typename }`,
    ],
  ])('G-04 counts unknown directives on %s, in one error', async (_, query) => {
    expect(rejectionOf(await t.graphql(query))).toContain('has 10 directives');
  });
});

describe('length', () => {
  it('G-06 rejects 1,001 tokens', async () => {
    const ones = (count: number) => `{ previewKey(input: { metaData: [${'1 '.repeat(count - 16)}] }) { keyID } }`;
    expect(dataOf(await t.graphql(ones(1000)))).toHaveProperty('keyID');
    expect(rejectionOf(await t.graphql(ones(1001)))).toBe('The operation has too many tokens; the maximum is 1,000.');
  });

  it('G-06 rejects 15,001 characters, including comments', async () => {
    const padded = (length: number) => '{ __typename } #'.padEnd(length, 'x');
    expect(dataOf<string>(await t.graphql(padded(15_000)))).toBe('Query');
    expect(rejectionOf(await t.graphql(padded(15_001)))).toBe(
      'The operation has 15,001 characters; the maximum is 15,000.',
    );
  });

  it('G-06 does not count variables, within the limit of the body', async () => {
    const input = { metaData: { text: 'x'.repeat(60_000) } };
    const query = 'query ($input: PreviewKeyInput!) { previewKey(input: $input) { keyHash } }';
    expect(dataOf(await t.graphql(query, { input }))).toHaveProperty('keyHash');
  });

  it('G-06 rejects a query of 5 MB before it is read', async () => {
    const response = await t.graphql(`{ ${'a'.repeat(5_000_000)} }`);
    expect(response.status).toBe(413);
    expect(errorsOf(response)[0]?.extensions.code).toBe('TOO_LARGE');
  });

  it('G-06 rejects a query of 5 MB in a URL', async () => {
    const response = await t.graphqlByGET({ query: `{ ${'a'.repeat(5_000_000)} }` });
    expect(rejectionOf(response)).toContain('5,000,004 characters');
  });
});

describe('stored data', () => {
  it('counts a key once that several lists of an operation read', async () => {
    const own = await startOwnApp();
    const keyIDs = Array.from({ length: 20 }, (_, index) => `large-${index}`);
    const text = 'x'.repeat(60_000);
    await own.importKeys(...keyIDs.map((key_id) => ({ key_id, org_id: 'acme', meta_data: { a: text, b: text } })));
    for (const keyID of keyIDs) {
      const change = '{ patch: { patch: { alias: "x" } } }';
      await own.graphql(`mutation { proposeKeyChange(keyID: "${keyID}", change: ${change}) { id } }`);
    }
    const list = (index: number) => `list${index}: keyProposals(first: 20) { edges { node { orgKey { version } } } }`;
    const { body } = await own.graphql(`{ ${times(5, list)} }`);
    const edges = keyIDs.map(() => ({ node: { orgKey: { version: 1 } } }));
    expect(body).toEqual({ data: Object.fromEntries([0, 1, 2, 3, 4].map((index) => [`list${index}`, { edges }])) });
  });
});

describe('mutations', () => {
  const updating = (count: number) =>
    times(count, (index) => `m${index}: updateOrgKey(keyID: "k1", input: { alias: "${index}" }) { version }`);

  it('G-21 runs 5 mutations one after another, and rejects 6 without writing', async () => {
    const before = await stateOf(t, 'k1');
    expect(rejectionOf(await t.graphql(`mutation { ${updating(6)} }`))).toBe(
      'The operation has 6 mutations; the maximum is 5.',
    );
    expect(await stateOf(t, 'k1')).toStrictEqual(before);
    const versions = Object.values((await t.graphql(`mutation { ${updating(5)} }`)).body['data'] as object);
    const first = before.key?.version ?? 0;
    expect(versions).toStrictEqual([1, 2, 3, 4, 5].map((step) => ({ version: first + step })));
  });

  it('G-21 counts mutations in fragments', async () => {
    const query = `mutation { ...A ... { ...A } } fragment A on Mutation { ${updating(3)} }`;
    expect(rejectionOf(await t.graphql(query))).toContain('has 6 mutations');
  });

  it('G-21 reports the path of a failed mutation, and returns the results of the others', async () => {
    const before = await stateOf(t, 'k1');
    const response = await t.graphql(`mutation {
      a: updateOrgKey(keyID: "k1", input: { alias: "a" }) { version }
      b: updateOrgKey(keyID: "unknown", input: {}) { version }
      c: updateOrgKey(keyID: "k1", input: { alias: "c" }) { version } }`);
    expect(errorsOf(response)).toMatchObject([{ path: ['b'], extensions: { code: 'NOT_FOUND' } }]);
    const version = before.key?.version ?? 0;
    expect(response.body['data']).toStrictEqual({ a: { version: version + 1 }, b: null, c: { version: version + 2 } });
    expect((await stateOf(t, 'k1')).key?.definition).toMatchObject({ alias: 'c' });
  });

  it('G-21 returns the generated identifier of a created key although a later mutation fails', async () => {
    const response = await t.graphql(`mutation {
      new: createOrgKey(input: { orgID: "initech" }) { orgKey { keyID } }
      b: updateOrgKey(keyID: "unknown", input: {}) { version } }`);
    expect(response.body['data']).toMatchObject({
      new: { orgKey: { keyID: expect.stringMatching(/^initech/) as string } },
      b: null,
    });
  });

  it('G-21 reads a key again after each mutation that may have changed it', async () => {
    const proposing = (alias: string) =>
      `proposeKeyChange(keyID: "k1", change: { patch: { patch: { alias: "${alias}" } } }) { orgKey { definition { alias } } }`;
    const { version = 0 } = (await stateOf(t, 'k1')).key ?? {};
    const response = await t.graphql(`mutation {
      a: ${proposing('a')}
      b: updateOrgKey(keyID: "k1", input: { alias: "b" }) { version }
      c: ${proposing('c')} }`);
    expect(response.body['data']).toMatchObject({
      b: { version: version + 1 },
      c: { orgKey: { definition: { alias: 'b' } } },
    });
  });

  it('G-21 returns the fields of a query beside one whose credential is missing', async () => {
    const query = '{ previewKey(input: { keyID: "a" }) { keyID } orgKeys { totalCount } }';
    const response = await t.graphql(query, {}, { 'x-svc-authorization': '' });
    expect(response.body['data']).toStrictEqual({ previewKey: { keyID: 'a' }, orgKeys: null });
    expect(errorsOf(response)).toMatchObject([{ path: ['orgKeys'], extensions: { code: 'UNAUTHENTICATED' } }]);
  });

  it('G-05 rejects a batch without executing any element', async () => {
    const one = { query: `mutation { ${updating(1)} }` };
    for (const batch of [[one], [one, one], Array<object>(10).fill(one), []]) {
      const response = await expectNoChange(t, () => t.post(batch));
      expect(response.status).toBe(400);
      expect(errorsOf(response)).toMatchObject([{ extensions: { code: 'INVALID' } }]);
    }
  });
});

describe('cost', () => {
  const listed = 'edges { node { history(first: $inner) { edges { node { version at reason operation } } } } }';
  const declared = (presets: string) => `query (${presets}) { orgKeys(first: $outer) { ${listed} } }`;

  it('G-09 reads page sizes from literals', async () => {
    const literal = (inner: string) => `{ orgKeys(first: 100) { ${listed.replace('$inner', inner)} } }`;
    expect(passes(await t.graphql(literal('10')))).toBe(true);
    expect(rejectionOf(await t.graphql(literal('100')))).toBe(
      'The operation costs 70,300 (the weights of its fields, multiplied by the sizes of the pages around them; 20,301 in the units of demand control); the maximum is 50,000.',
    );
    expect(rejectionOf(await t.graphql(literal('2147483647')))).toContain('costs 70,300');
  });

  it('G-09 reads page sizes from variables, also for a cached document', async () => {
    const query = declared('$outer: Int, $inner: Int');
    expect(dataOf(await t.graphql(query, { outer: 1, inner: 1 }))).toHaveProperty('edges');
    expect(rejectionOf(await t.graphql(query, { outer: 100, inner: 100 }))).toContain('costs 70,300');
    expect(dataOf(await t.graphql(query, { outer: 1, inner: 1 }))).toHaveProperty('edges');
  });

  it('G-09 reads page sizes from the defaults of variables', async () => {
    const query = declared('$outer: Int = 100, $inner: Int = 100');
    expect(rejectionOf(await t.graphql(query))).toContain('costs 70,300');
    expect(dataOf(await t.graphql(query, { outer: 2, inner: 3 }))).toHaveProperty('edges');
    // Null is given, and means a page of no given size.
    expect(dataOf(await t.graphql(query, { outer: 100, inner: null }))).toHaveProperty('edges');
  });

  it('G-09 counts 20 items for a page without a size', async () => {
    for (const variables of [{}, { outer: null, inner: null }]) {
      expect(dataOf(await t.graphql(declared('$outer: Int, $inner: Int'), variables))).toHaveProperty('edges');
    }
    const five = times(5, (index) => `a${index}: orgKeys { ${listed.replaceAll('$inner', '100')} }`);
    expect(rejectionOf(await t.graphql(`{ ${five} }`))).toContain('costs 70,300');
  });

  it('G-09 reads `last` without `first`', async () => {
    const query = `query ($n: Int) { orgKeys(last: $n) { ${listed.replace('first: $inner', 'first: null, last: $n')} } }`;
    expect(rejectionOf(await t.graphql(query, { n: 100 }))).toContain('costs 70,300');
    expect(dataOf(await t.graphql(query, { n: 2 }))).toHaveProperty('edges');
  });

  it('G-09 counts an invalid page size as the maximum', async () => {
    const query = declared('$outer: Int, $inner: Int');
    for (const odd of ['1', 1.5e300, [1], {}, true]) {
      expect(rejectionOf(await t.graphql(query, { outer: 100, inner: odd }))).toContain('costs 70,300');
    }
  });

  it('G-09 counts a bulk change as a page of 200, and rejects it without writing', async () => {
    const whole = 'items { orgKey { history(first: 100) { edges { node { version at } } } } }';
    const bulk = (first: string) =>
      `mutation { updateOrgKeys(filter: {orgID: "globex"}, patch: {alias: "bulk"}, dryRun: false${first}) { ${whole} } }`;
    const rejected = async (first: string) => rejectionOf(await expectNoChange(t, () => t.graphql(bulk(first))));
    expect(await rejected('')).toContain('costs 100,609');
    expect(await rejected(', first: 110')).toContain('costs 55,339');
    expect(dataOf(await t.graphql(bulk(', first: 10')))).toHaveProperty('items');
  });
});

describe('operations within the limits', () => {
  const file = readFileSync(join(import.meta.dirname, 'operations.graphql'), 'utf8');
  const document = parse(`${file}\n${readFileSync(join(import.meta.dirname, 'subscriptions.graphql'), 'utf8')}`);
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);

  /** The aliases of operations that have any: the console counts the keys of its five views in one request. */
  const aliased: Readonly<Record<string, number>> = { OrgKeyCounts: 5 };

  it.each(operations.map((operation) => [operation.name?.value ?? '', operation] as const))(
    'allows our own %s',
    (name, operation) => {
      const { depth, aliases, directives, cost } = calculateComplexity(schema, document, operation, {});
      expect({ aliases, directives }).toStrictEqual({ aliases: aliased[name] ?? 0, directives: 0 });
      expect(aliases).toBeLessThanOrEqual(limits.aliases);
      // Two levels are kept for what a router may come through.
      expect(depth).toBeLessThanOrEqual(limits.depth - 2);
      expect(cost).toBeLessThanOrEqual(limits.cost);
    },
  );

  it('returns a key with all fields', async () => {
    const query = print(separateOperations(document)['OrgKey'] ?? document);
    expect(dataOf(await t.graphql(query, { by: { keyID: 'k1' } }))).toHaveProperty('keyHash');
  });

  it('returns a page of 100 keys with all fields', async () => {
    const page100 = parse('query Page { orgKeys(first: 100) { edges { node { ...OrgKey } } } }');
    const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
    const all: DocumentNode = { ...page100, definitions: [...page100.definitions, ...fragments] };
    const query = print(separateOperations(all)['Page'] ?? all);
    const page = dataOf<{ edges: { node: { definition: { smoothing: object } } }[] }>(await t.graphql(query));
    expect(page.edges).toHaveLength(100);
    expect(page.edges[0]?.node.definition.smoothing).toMatchObject({ step: 10 });
  });

  it.each([true, false])('allows the standard introspection query with the options %s', async (on) => {
    const query = getIntrospectionQuery({
      inputValueDeprecation: on,
      schemaDescription: on,
      specifiedByUrl: on,
      directiveIsRepeatable: on,
      oneOf: on,
    });
    expect(dataOf<{ types: object[] }>(await t.graphql(query)).types.length).toBeGreaterThan(40);
  });

  it.each([
    ['circular', 'types { fields { type { fields { type { fields { type { fields { type { name } } } } } } } } }'],
    ['of fields, their arguments, and those’ fields', 'types { fields { args { type { inputFields { name } } } } }'],
  ])('rejects an introspection query that is %s', async (_, selected) => {
    expect(rejectionOf(await t.graphql(`{ __schema { ${selected} } }`))).toMatch(
      /nests lists of introspection [45] deep; the maximum is 3/,
    );
    expect(rejectionOf(await t.graphql(`{ ...F } fragment F on Query { s: __schema { ${selected} } }`))).toContain(
      'lists',
    );
  });

  it('allows a query of a type by name, with the fields of its fields', async () => {
    const query = '{ __type(name: "OrgKey") { fields { name type { name fields { name } } } } }';
    expect(dataOf(await t.graphql(query))).toHaveProperty('fields');
  });
});

describe('the error of the limits', () => {
  it('lists every limit that an operation exceeds', async () => {
    const response = await t.graphql(`{ ${times(16, (index) => `a${index}: a @a { ${nested(10)} }`)} }`);
    expect(errorsOf(response)[0]?.message).toBe(
      'The operation nests fields 11 deep; the maximum is 10, and has 16 aliases; the maximum is 15, and has 16 directives; the maximum is 5.',
    );
    expect(errorsOf(response)[0]?.extensions.issues?.map(({ code }) => code)).toEqual([
      'TOO_DEEP',
      'TOO_MANY',
      'TOO_MANY',
    ]);
  });

  it.each([
    ['application/json', 200],
    ['application/graphql-response+json', 400],
  ])('returns to clients of %s the status %i, as for other rejected operations', async (accept, status) => {
    for (const query of [`{ ${nested(11)} }`, `{ ${'a '.repeat(1000)} }`, `{ ${'a'.repeat(15_000)} }`, '{ nope }']) {
      expect((await t.graphql(query, {}, { accept })).status).toBe(status);
    }
  });

  it('rejects before anything is executed', async () => {
    let steps = 0;
    const count = () => {
      steps += 1;
      throw new Error('Nothing may get here.');
    };
    const { graphql } = serveWith(t, {
      keys: { preview: count, orgKeys: count, updateOrgKey: count },
    });
    for (const query of [
      `{ ${times(16, (index) => `a${index}: previewKey(input: {}) { keyID }`)} }`,
      `{ orgKeys { ${nested(11)} } }`,
      `{ orgKeys(first: 100) { edges { node { history(first: 100) { edges { node { ${'version '.repeat(9)} } } } } } } }`,
      `mutation { ${times(6, () => 'updateOrgKey(keyID: "k1", input: {}) { version }')} }`,
      `{ previewKey(input: {}) { keyID ${'@skip(if: false) '.repeat(6)} } }`,
      `{ previewKey(input: {alias: "${'x'.repeat(15_000)}"}) { keyID } }`,
      `{ previewKey(input: {metaData: [${'1 '.repeat(1000)}]}) { keyID } }`,
    ]) {
      rejectionOf(await graphql(query));
    }
    expect(steps).toBe(0);
  });

  it('G-14 quotes nothing of the request', async () => {
    const secret = 'hunter2';
    const input = `(input: {hmacString: "${secret}"})`;
    for (const query of [
      `query ${secret} { ${times(16, (index) => `${secret}${index}: previewKey${input} { keyID }`)} }`,
      `{ ${secret} { ${nested(11, secret)} } }`,
      `{ previewKey${input} { keyID ${`@${secret} `.repeat(6)} } }`,
      `{ previewKey${input} { ${`${secret} `.repeat(1000)} } }`,
      `{ previewKey${input} { keyID } } #${'x'.repeat(15_000)}`,
    ]) {
      const response = await t.graphql(query);
      rejectionOf(response);
      expect(response.text).not.toContain(secret);
    }
    expect(t.logs()).not.toContain(secret);
  });

  it('measures the requested operation only', async () => {
    const query =
      'query A { __typename } query B { __schema { types { fields { args { type { inputFields { name } } } } } } }';
    expect((await t.post({ query, operationName: 'A' })).body).toStrictEqual({ data: { __typename: 'Query' } });
    expect(rejectionOf(await t.post({ query, operationName: 'B' }))).toContain('lists of introspection');
  });
});

describe('the settings of the limits', () => {
  it('change every limit', async () => {
    const own = await startOwnApp({
      KEYFRONT_GRAPHQL_MAX_DEPTH: '2',
      KEYFRONT_GRAPHQL_MAX_ALIASES: '0',
      KEYFRONT_GRAPHQL_MAX_DIRECTIVES: '0',
      KEYFRONT_GRAPHQL_MAX_MUTATIONS: '1',
      KEYFRONT_GRAPHQL_MAX_COST: '30',
    });
    const rejected = async (query: string) => rejectionOf(await own.graphql(query)).replace(/^The operation /, '');
    expect(await rejected('{ a { a { a } } }')).toBe('nests fields 3 deep; the maximum is 2.');
    expect(await rejected('{ x: __typename }')).toBe('has 1 aliases; the maximum is 0.');
    expect(await rejected('{ __typename @include(if: true) }')).toBe('has 1 directives; the maximum is 0.');
    expect(await rejected('mutation { a b }')).toBe('has 2 mutations; the maximum is 1.');
    expect(await rejected('{ orgKeys(first: 30) { totalCount } }')).toMatch(/^costs 40 .*; the maximum is 30\.$/);
  });

  it('permit more than the defaults', async () => {
    const own = await startOwnApp({ KEYFRONT_GRAPHQL_MAX_ALIASES: '40', KEYFRONT_GRAPHQL_MAX_DEPTH: '12' });
    expect(passes(await own.graphql(`{ ${times(40, (index) => `x${index}: __typename`)} }`))).toBe(true);
    expect(passes(await own.graphql(`{ ${nested(12)} }`))).toBe(true);
  });

  it('do not count aliases of _entities, by which routers merge their requests', async () => {
    const field = (index: number) =>
      `e${index}: _entities(representations: [{ __typename: "OrgKey", keyHash: "${hashOf('k1')}" }]) { ... on OrgKey { orgID } }`;
    const response = await t.graphql(`{ ${times(20, field)} }`);
    expect(errorsOf(response)).toEqual([]);
    expect(Object.values(response.body['data'] as object)).toEqual(Array(20).fill([{ orgID: 'globex' }]));
  });
});

describe('a service credential with the scope `router`', () => {
  const aliased = (count: number) =>
    `{ ${Array.from({ length: count }, (_, index) => `a${index}: orgKey(by: { keyID: "k1" }) { version }`).join(' ')} }`;
  const routerHeaders = async (scopes: readonly Scope[]) => ({
    'x-svc-authorization': (await t.issue('service', { scopes })).secret,
  });

  it('may send more aliases than other clients', async () => {
    const headers = await routerHeaders(['read', 'router']);
    const merged = await t.graphql(aliased(60), {}, headers);
    expect(Object.keys(merged.body['data'] as object)).toHaveLength(60);
    // Also after the operation was validated, which the cache remembers.
    for (const others of [await routerHeaders(['read']), {}]) {
      expect(codeOf(await t.graphql(aliased(60), {}, others))).toBe('INVALID');
    }
    expect(codeOf(await t.graphql(aliased(60), {}, { 'x-svc-authorization': '' }))).toBe('UNAUTHENTICATED');
    expect((await t.graphql(aliased(60), {}, headers)).text).toBe(merged.text);
  });

  it('permits multiples of every limit but the depth, and nothing by itself', async () => {
    const own = await startOwnApp({
      KEYFRONT_GRAPHQL_MAX_ALIASES: '1',
      KEYFRONT_GRAPHQL_MAX_DIRECTIVES: '1',
      KEYFRONT_GRAPHQL_MAX_MUTATIONS: '1',
      KEYFRONT_GRAPHQL_MAX_COST: '450',
      KEYFRONT_GRAPHQL_MAX_DEPTH: '4',
      KEYFRONT_GRAPHQL_ROUTER_FACTOR: '3',
    });
    const router = { 'x-svc-authorization': (await own.issue('service', { scopes: ['router'] })).secret };
    const client = { 'x-svc-authorization': (await own.issue('service')).secret };
    const codeFor = async (query: string, headers: Record<string, string>) =>
      codeOf(await own.graphql(query, {}, headers));
    const deletion = (index: number) => `a${index}: deleteOrgKey(keyID: "k1") { version }`;
    const key = 'orgKey(by: { keyID: "k1" })';
    const representation = '{ __typename: "OrgKey", keyHash: "a" }';
    const operations: ((count: number) => string)[] = [
      (count) => aliased(count),
      (count) => `{ ${key} { ${times(count, () => '... @include(if: true) { version }')} } }`,
      (count) => `mutation { ${times(count, deletion)} }`,
      (count) => `{ orgKeys(first: ${24 * count}) { edges { node { ${times(13, () => 'keyID')} } } } }`,
      (count) => `{ _entities(representations: [${times(95 * count, () => representation)}]) { __typename } }`,
      (count) => `{ ${key} { version } } ${'#'.repeat(14_000 * count)}`,
    ];
    for (const operation of operations) {
      expect([operation(1).slice(0, 80), await codeFor(operation(3), client)]).toEqual([
        operation(1).slice(0, 80),
        'INVALID',
      ]);
      expect([operation(1).slice(0, 80), await codeFor(operation(3), router)]).toEqual([
        operation(1).slice(0, 80),
        'FORBIDDEN',
      ]);
      // Also after the document was parsed for a router.
      expect(await codeFor(operation(3), client)).toBe('INVALID');
      expect(await codeFor(operation(3), { 'x-svc-authorization': '' })).not.toBe('FORBIDDEN');
      expect(await codeFor(operation(4), router)).toBe('INVALID');
    }
    expect(rejectionOf(await own.graphql(`{ ${nested(5)} }`, {}, router))).toContain('5 deep; the maximum is 4');
  });

  it('cannot nest a document more deeply than the functions that check it can follow', async () => {
    const headers = await routerHeaders(['read', 'router']);
    // At most 9,900 tokens: above 10,000, V8's optimizations decide whether the stack or the tokens reach their limit first.
    for (const depth of [501, 1_500, 3_300]) {
      const [fields, lists] = [
        `${'{ a '.repeat(depth)}${'}'.repeat(depth)}`,
        `{ a(b: ${'['.repeat(depth)}${']'.repeat(depth)}) }`,
      ];
      for (const query of [fields, lists]) {
        expect(rejectionOf(await t.graphql(query, {}, headers))).toBe('The operation is nested too deeply.');
      }
    }
    expect(rejectionOf(await t.graphql(`{ ${nested(490)} }`, {}, headers))).toContain('nests fields');
  });
});
