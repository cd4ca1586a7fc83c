import { getIntrospectionQuery, isEnumType, isInputObjectType, isInterfaceType, isObjectType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../../src/graphql/schema/api-schema.js';
import { codeOf, dataOf, errorsOf } from '../../support/responses.js';
import { noCredentials, startOwnApp, startSharedApp, type TestResponse } from '../../support/app.js';
import { expectNoChange } from '../../support/state.js';

const t = await startSharedApp({ NODE_ENV: 'production' });
await t.importKeys({ key_id: 'k1', org_id: 'acme' });

/** The parts of a response that distinguish rejections. */
const shownBy = ({ status, text }: TestResponse) => [status, text.replace(/"requestID":"[^"]*"/, '')];

const requesting = [
  '{ __schema { types { name } } }',
  '{ a: __schema { queryType { name } } }',
  '{ __typename ...F } fragment F on Query { __schema { directives { name } } }',
  '{ ...F } fragment F on Query { ...G } fragment G on Query { __type(name: "Query") { name } }',
  '{ ... { ... on Query { __schema { description } } } }',
  '{ __type(name: "KeyDefinition") { fields { name type { name } } } }',
  'query ($name: String!) { t: __type(name: $name) { name } }',
  '{ __typename @include(if: true) __schema @skip(if: false) { queryType { name } } }',
  '{ orgKey(by: { keyID: "k1" }) { __schema { queryType { name } } } }',
  'mutation { __schema { queryType { name } } }',
  '{ _service { sdl } }',
  getIntrospectionQuery(),
];

describe('in production, introspection', () => {
  it.each(requesting)('G-11 rejects introspection without a credential like an unknown field: %j', async (query) => {
    const unknown = await t.graphql('{ nope }', {}, noCredentials);
    const response = await t.graphql(query, { name: 'KeyDefinition' }, noCredentials);
    expect(shownBy(response)).toStrictEqual(shownBy(unknown));
    expect(response.body).not.toHaveProperty('data');
  });

  it('G-11 rejects introspection over GET', async () => {
    for (const query of ['{ __schema { queryType { name } } }', '{ __type(name: "Query") { name } }']) {
      const response = await t.graphqlByGET({ query }, noCredentials);
      expect(codeOf(response)).toBe('UNAUTHENTICATED');
      expect(response.body).not.toHaveProperty('data');
    }
  });

  it.each(['A', 'B'])(
    'G-11 rejects introspection in a document of two operations when %s is requested',
    async (operationName) => {
      const query = 'query A { __typename } query B { __schema { queryType { name } } }';
      const response = await t.post({ query, operationName }, noCredentials);
      expect(codeOf(response)).toBe('UNAUTHENTICATED');
      expect(response.body).not.toHaveProperty('data');
    },
  );

  it('G-11 allows introspection with a valid credential of either kind', async () => {
    for (const headers of [
      { ...noCredentials, authorization: `Bearer ${t.management}` },
      { ...noCredentials, 'x-svc-authorization': t.service },
    ]) {
      expect(dataOf(await t.graphql('{ __schema { queryType { name } } }', {}, headers))).toStrictEqual({
        queryType: { name: 'Query' },
      });
      const whole = await t.graphql(getIntrospectionQuery(), {}, headers);
      expect(dataOf<{ types: unknown[] }>(whole).types.length).toBeGreaterThan(50);
      expect(
        dataOf(await t.graphql('{ ...F } fragment F on Query { __type(name: "KeyDefinition") { name } }')),
      ).toEqual({
        name: 'KeyDefinition',
      });
    }
  });

  it('G-11 rejects introspection with a credential that is unknown, expired, revoked or in the header of the other kind', async () => {
    const expired = await t.issue('management', { expires: new Date(t.clock.now.getTime() - 1) });
    const revoked = await t.issue('service');
    await t.app.services.credentials.revoke(revoked.id, t.clock.now);
    const unknown = shownBy(await t.graphql('{ nope }', {}, noCredentials));
    for (const headers of [
      // secret-scan: fixture
      { ...noCredentials, authorization: 'Bearer kf_mgt_00000000000000000000000000000000000000' },
      { ...noCredentials, authorization: `Bearer ${expired.secret}` },
      { ...noCredentials, 'x-svc-authorization': revoked.secret },
      { authorization: `Bearer ${t.service}`, 'x-svc-authorization': t.management },
    ]) {
      expect(shownBy(await t.graphql('{ __schema { types { name } } }', {}, headers))).toStrictEqual(unknown);
    }
  });

  it('G-11 decides for each request, also when the document is cached', async () => {
    const first = '{ __schema { first: queryType { name } } }';
    const second = '{ __schema { second: queryType { name } } }';
    const codes: unknown[] = [];
    for (const [query, headers] of [
      [first, noCredentials],
      [first, {}],
      [first, noCredentials],
      [second, {}],
      [second, noCredentials],
      [second, {}],
    ] as const) {
      const response = await t.graphql(query, {}, headers);
      codes.push(response.body['data'] ? 'data' : codeOf(response));
    }
    expect(codes).toStrictEqual(['UNAUTHENTICATED', 'data', 'UNAUTHENTICATED', 'data', 'UNAUTHENTICATED', 'data']);
  });

  it('G-11 allows __typename without a credential, under any alias', async () => {
    const response = await t.graphql(
      'query Health { __typename a: __typename __schema: __typename }',
      {},
      noCredentials,
    );
    expect(response.body).toStrictEqual({ data: { __typename: 'Query', a: 'Query', __schema: 'Query' } });
  });
});

/** Each is but a letter, a type or a selection away from an operation that there is, or is one. */
const nearMisses: [query: string, variables?: object][] = [
  ['{ previewKeyy(input: {}) { keyID } }'],
  ['{ orgKeyz { nodes { alias } } }'],
  ['{ orgKey(keyId: "k1") { version } }'],
  ['{ orgKey(by: { keyID: "k1" }) { versio } }'],
  ['{ orgKey(by: { keyID: "k1" }) }'],
  ['{ orgKey { version } }'],
  ['{ orgKeys(orderBy: HASHH) { edges { node { keyHash } } } }'],
  ['{ orgKeys(filter: { states: [ACTIV] }) { edges { cursor } } }'],
  ['{ orgKeys(filter: { tagg: "x" }) { edges { cursor } } }'],
  ['{ previewKey(input: { quotaMaxx: 1 }) { keyID } }'],
  ['{ previewKey(input: { accessRights: [{ label: "a", apiId: "a" }] }) { keyID } }'],
  ['{ previewKey(input: { rate: "x" }) { keyID } }'],
  ['{ previewKey { keyID } }'],
  ['mutation { updateOrgKeyy(keyID: "k1", input: {}) { status } }'],
  ['mutation { updateOrgKey(keyID: "k1", input: { aliass: "x" }) { status } }'],
  ['mutation { updateOrgKey(keyID: "k1", input: {}, resetQuotaa: true) { status } }'],
  ['mutation { updateOrgKey(keyID: "k1", input: { alias: "x" }) { status } }'],
  ['mutation { deleteOrgKey(keyID: "k1") { version } }'],
  ['query ($input: PreviewKeyInpu!) { previewKey(input: $input) { keyID } }', { input: {} }],
  ['query ($input: PreviewKeyInput!) { __typename }', { input: { quotaMaxx: 1 } }],
  ['query ($input: PreviewKeyInput!) { previewKey(input: $input) { keyID } }', { input: { quotaMaxx: 1 } }],
  ['query ($by: OrgKeyOrde) { __typename }', { by: 'HASH' }],
  ['query ($by: String) { orgKeys(orderBy: $by) { edges { cursor } } }', { by: 'HASHH' }],
  ['{ __typename ...F } fragment F on KeyDefinitio { alias }'],
  ['{ __typename } fragment F on OrgKe { version }'],
  ['{ ... on OrgKey { version } }'],
  ['{ __typename @includ(if: true) }'],
  ['{ __typename @include(iff: true) }'],
  ['{ __typenam }'],
  ['{ __typename { name } }'],
  ['{ __typename(keyId: 1) }'],
  ['{ node(id: "x") { ... on OrgKey { versio } } }'],
  ['subscription { orgKey { version } }'],
  ['subscription { __typename }'],
  ['mutation { __typename }'],
  ['query ($input: PreviewKeyInput) @skip(if: true) { __typename }'],
  ['query @skip(if: true) { __typename }'],
  ['{ orgKey(by: { keyID: "k1" }) { version } }'],
  ['{ orgKey(by: { keyID: "unknown" }) { version } }'],
];

/** Every name that the schema has. */
function namesInSchema(): Set<string> {
  const types = Object.values(schema.getTypeMap());
  const members = types.flatMap((type) => {
    if (isEnumType(type)) return type.getValues().map(({ name }) => name);
    if (isInputObjectType(type)) return Object.keys(type.getFields());
    if (!isObjectType(type) && !isInterfaceType(type)) return [];
    return Object.values(type.getFields()).flatMap(({ name, args }) => [name, ...args.map((arg) => arg.name)]);
  });
  return new Set([...types.map(({ name }) => name), ...members]);
}

/** The names of the schema in the messages of a response that were not in the request. */
function hintsIn(response: TestResponse, request: string): string[] {
  const wordsOf = (text: string) => text.match(/[A-Za-z_]\w*/g) ?? [];
  const requested = new Set(wordsOf(request));
  const names = namesInSchema();
  // Also a word of the message that a credential is required.
  names.delete('credential');
  const stderr = errorsOf(response).flatMap(({ message, extensions }) => [
    ...wordsOf(message),
    ...(extensions.issues ?? []).flatMap((issue) => wordsOf(`${issue.path} ${issue.message}`)),
  ]);
  return stderr.filter((word) => names.has(word) && !requested.has(word));
}

describe('in production, an operation without a credential', () => {
  it.each(nearMisses)('G-12 reveals no names of the schema, and changes nothing: %s', async (query, variables = {}) => {
    const response = await expectNoChange(t, () => t.graphql(query, variables, noCredentials));
    expect(errorsOf(response)).toHaveLength(1);
    expect(response.text).not.toMatch(/did you mean/i);
    expect(hintsIn(response, query + JSON.stringify(variables))).toStrictEqual([]);
    // Every operation of one type has the same response. A subscription has the status 401, whether it exists or not.
    const unknown = query.startsWith('subscription') ? 'subscription { nope }' : '{ nope }';
    expect(shownBy(response)).toStrictEqual(shownBy(await t.graphql(unknown, {}, noCredentials)));
  });

  it('G-12 reveals names for most of these in development, as hints', async () => {
    const development = await startOwnApp();
    const hinting: string[] = [];
    for (const [query, variables = {}] of nearMisses) {
      const response = await development.graphql(query, variables);
      if (hintsIn(response, query + JSON.stringify(variables)).length > 0) hinting.push(query);
    }
    expect(hinting.length).toBeGreaterThan(20);
  });

  it('G-12 returns UNAUTHENTICATED, as a failed request for application/graphql-response+json', async () => {
    const accept = { accept: 'application/graphql-response+json' };
    const response = await t.graphql(
      '{ orgKey(by: { keyID: "k1" }) { version } }',
      {},
      { ...noCredentials, ...accept },
    );
    expect(response.status).toBe(401);
    expect(response.body).toStrictEqual({
      errors: [
        {
          message: 'A valid credential is required.',
          extensions: { code: 'UNAUTHENTICATED', requestID: response.headers.get('x-request-id') },
        },
      ],
    });
    expect((await t.graphql('{ nope }', {}, noCredentials)).status).toBe(200);
  });

  it('G-12 returns syntax errors, which reveal nothing of the schema', async () => {
    const response = await t.graphql('{ previewKey(input: {}', {}, noCredentials);
    expect(codeOf(response)).toBe('INVALID');
    expect(hintsIn(response, '{ previewKey(input: {}')).toStrictEqual([]);
  });
});

describe('hints', () => {
  it('G-12 are returned with a valid credential in production', async () => {
    const response = await t.graphql('{ orgKey(by: { keyID: "k1" }) { versio } }');
    expect(errorsOf(response)[0]?.message).toBe(
      'Cannot query field "versio" on type "OrgKey". Did you mean "version"?',
    );
  });

  it('G-12 are returned without a credential in development', async () => {
    const development = await startOwnApp();
    const response = await development.graphql('{ nod }', {}, noCredentials);
    expect(errorsOf(response)[0]?.message).toContain('Did you mean "node"?');
  });
});

describe('KEYFRONT_INTROSPECTION', () => {
  it.each([
    [{}, 'data'],
    [{ KEYFRONT_INTROSPECTION: 'open' }, 'data'],
    [{ KEYFRONT_INTROSPECTION: 'credential' }, 'UNAUTHENTICATED'],
    [{ NODE_ENV: 'production' }, 'UNAUTHENTICATED'],
    [{ NODE_ENV: 'production', KEYFRONT_INTROSPECTION: 'open' }, 'data'],
    [{ NODE_ENV: 'production', KEYFRONT_INTROSPECTION: 'credential' }, 'UNAUTHENTICATED'],
  ])('G-11 returns with %j, without a credential, %s', async (env, expected) => {
    const own = await startOwnApp(env);
    const response = await own.graphql('{ __schema { queryType { name } } }', {}, noCredentials);
    const holder = await own.graphql('{ __schema { queryType { name } } }');
    expect(response.body['data'] ? 'data' : codeOf(response)).toBe(expected);
    expect(dataOf(holder)).toStrictEqual({ queryType: { name: 'Query' } });
  });
});
