import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { noCredentials, startOwnApp, type TestResponse, type TestApp } from '../../support/app.js';
import { dataOf, errorsOf, issuesOf, sendRequest } from '../../support/responses.js';
import { expectNoChange, stateOf } from '../../support/state.js';
import { hashOf } from '../../support/factories.js';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
  await t.importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 100, quota_remaining: 30, quota_renewal_rate: 60 });
});

const codesOf = (response: TestResponse) => errorsOf(response).map(({ extensions }) => extensions.code);

const update = `mutation ($keyID: ID!, $input: UpdateKeyInput!, $resetQuota: Boolean, $expectedVersion: Int) {
  updateOrgKey(keyID: $keyID, input: $input, resetQuota: $resetQuota, expectedVersion: $expectedVersion) {
    action key keyHash status version quotaEffect { after { used } }
    orgKey { definition { alias orgID quotaMax quotaRemaining quotaRenews dateCreated lastUpdated tags hmacStringSet
      basicAuthData { hashType user passwordSet } jwtData { secretSet } } }
    warnings { path code message }
  }
}`;

const rejected = (request: () => Promise<TestResponse>) => expectNoChange(t, request);

describe('previewKey', () => {
  it('returns apiModel, data, keyHash, keyID and warnings', async () => {
    const response = await t.graphql(
      `query ($input: PreviewKeyInput!) { previewKey(input: $input) {
        apiModel keyHash keyID warnings { path code message }
        data { alias applyPolicies tags metaData oauthKeys accessRights { label apiID versions limit { quotaMax } } } } }`,
      {
        input: {
          keyID: 'my-key',
          alias: 'x',
          applyPolicyID: 'gold',
          tags: ['a', ' a '],
          metaData: { any: [1, null] },
          accessRights: [{ label: 'a', apiID: 'b', limit: { quotaMax: 5, quotaRenewalRate: 60 } }],
        },
      },
    );
    expect(response.status).toBe(200);
    expect(dataOf(response)).toStrictEqual({
      apiModel: {},
      keyHash: hashOf('my-key'),
      keyID: 'my-key',
      warnings: [
        { path: 'applyPolicyID', code: 'DEPRECATED_FIELD', message: 'was moved into `applyPolicies`' },
        {
          path: 'accessRights[0].apiID',
          code: 'LABEL_MISMATCH',
          message: 'differs from the label, and a gateway looks entries up by `apiID`',
        },
      ],
      data: {
        alias: 'x',
        applyPolicies: ['gold'],
        tags: ['a'],
        metaData: { any: [1, null] },
        oauthKeys: null,
        accessRights: [{ label: 'a', apiID: 'b', versions: null, limit: { quotaMax: 5 } }],
      },
    });
  });

  it('returns secrets as set or not set, never their values', async () => {
    const query = `query ($i: PreviewKeyInput!) { previewKey(input: $i) {
      data { hmacStringSet basicAuthData { user hashType passwordSet } jwtData { secretSet } } } }`;
    const all = await t.graphql(query, {
      i: {
        basicAuthData: { user: 'u', password: 'hunter2-hunter2' },
        jwtData: { secret: 'hunter2-jwt' },
        hmacString: 'hunter2-hmac',
      },
    });
    expect(dataOf(all)['data']).toStrictEqual({
      hmacStringSet: true,
      basicAuthData: { user: 'u', hashType: null, passwordSet: true },
      jwtData: { secretSet: true },
    });
    expect(all.text + t.logs()).not.toContain('hunter2');
    const none = await t.graphql(query, { i: { basicAuthData: { user: 'u' } } });
    expect(dataOf(none)['data']).toMatchObject({
      hmacStringSet: false,
      basicAuthData: { passwordSet: false },
      jwtData: null,
    });
  });
});

describe('updateOrgKey', () => {
  it('returns the action and the key after it', async () => {
    const response = await t.graphql(update, {
      keyID: 'k1',
      input: { alias: 'after', quotaMax: 50, tags: ['a'], hmacString: 's', applyPolicyID: 'gold', orgID: 'acme' },
    });
    expect(response.status).toBe(200);
    expect(dataOf(response)).toStrictEqual({
      action: 'modified',
      key: 'k1',
      keyHash: hashOf('k1'),
      status: 'ok',
      version: 2,
      quotaEffect: { after: { used: 70 } },
      orgKey: {
        definition: {
          alias: 'after',
          orgID: 'acme',
          quotaMax: 50,
          quotaRemaining: null,
          quotaRenews: null,
          dateCreated: '2026-01-31T12:00:00.000Z',
          lastUpdated: '1769860801',
          tags: ['a'],
          hmacStringSet: true,
          basicAuthData: null,
          jwtData: null,
        },
      },
      warnings: [
        { path: 'applyPolicyID', code: 'DEPRECATED_FIELD', message: 'was moved into `applyPolicies`' },
        {
          path: 'quotaRenewalRate',
          code: 'QUOTA_NEVER_RENEWS',
          message: 'is not above 0, so that the quota never renews',
        },
      ],
    });
  });

  it('returns NOT_FOUND for an unknown key, and creates none', async () => {
    const response = await rejected(() =>
      t.graphql(update, { keyID: 'unknown', input: { orgID: 'acme' }, resetQuota: true }),
    );
    expect(response.status).toBe(200);
    expect(errorsOf(response)).toStrictEqual([
      {
        message: 'There is no such key.',
        locations: expect.any(Array),
        path: ['updateOrgKey'],
        extensions: { code: 'NOT_FOUND', requestID: response.headers.get('x-request-id') },
      },
    ]);
    expect((await stateOf(t, 'unknown')).audit).toStrictEqual([]);
  });
});

describe('Int64', () => {
  it.each(['previewKey', 'updateOrgKey'])(
    'rejects a number beyond 2^53-1 in the free-form JSON of %s, with its path',
    async (field) => {
      const input = 'metaData: { list: [1, { big: 9007199254740993 }] }';
      const response = await t.graphql(
        field === 'previewKey'
          ? `{ previewKey(input: { ${input} }) { keyID } }`
          : `mutation { updateOrgKey(keyID: "k", input: { ${input} }) { version } }`,
      );
      expect(issuesOf(response)).toStrictEqual(['metaData.list[1].big IMPRECISE']);
    },
  );

  it('keeps stored integers of free-form JSON when a client writes back what it read', async () => {
    await t.importKeys({
      key_id: 'k',
      org_id: 'acme',
      meta_data: { big: 9007199254740993n, list: [-9223372036854775808n], text: '9007199254740993', other: 'a' },
      oauth_keys: { big: 9223372036854775807n },
      access_rights: { rmw: { api_id: 'rmw' } },
    });
    const read = async () => {
      const response = await t.graphql('{ orgKey(by: { keyID: "k" }) { definition { metaData oauthKeys } } }');
      return dataOf<{ definition: { metaData: object; oauthKeys: object } }>(response).definition;
    };
    const definition = await read();
    expect(definition).toStrictEqual({
      metaData: { big: '9007199254740993', list: ['-9223372036854775808'], text: '9007199254740993', other: 'a' },
      oauthKeys: { big: '9223372036854775807' },
    });
    const update = `mutation ($input: UpdateKeyInput!) { updateOrgKey(keyID: "k", input: $input) { changes { path } } }`;
    expect(
      dataOf(await t.graphql(update, { input: { ...definition, accessRights: [{ label: 'rmw', apiID: 'rmw' }] } })),
    ).toStrictEqual({ changes: [] });
    const metaData = { ...definition.metaData, other: '9007199254740993', list: ['-9223372036854775807'] };
    const bulk = `mutation ($patch: PatchKeyInput!) {
      updateOrgKeys(filter: { apiID: "rmw" }, patch: $patch, dryRun: false) { items { change { changes { path } } } } }`;
    expect(dataOf(await t.graphql(bulk, { patch: { metaData } }))).toStrictEqual({
      items: [{ change: { changes: [{ path: 'metaData.list' }, { path: 'metaData.other' }] } }],
    });
    expect((await sendRequest(t, 'GET', '/svc/org/keys/k')).text).toContain(
      '"meta_data":{"big":9007199254740993,"list":["-9223372036854775807"],"text":"9007199254740993","other":"9007199254740993"}',
    );
  });

  it('has one type for metaData in previews, updates and output', () => {
    const text = readFileSync('schema/schema.graphql', 'utf8');
    expect(new Set(text.match(/^ {2}metaData: .*$/gm))).toStrictEqual(new Set(['  metaData: JSON']));
  });
});

describe('a definition that is not valid', () => {
  const wrong = {
    rate: 'hunter2-a',
    expires: 'hunter2-b',
    quotaMax: -2,
    aliass: 'hunter2-c',
    tags: ['', 7],
    accessRights: [{ apiID: 'a' }, { label: 'b', allowedUrls: [{ methods: ['hunter2'] }] }],
    basicAuthData: { hashType: 'md5', password: '***' },
  };
  const problems = [
    'accessRights[0].label MISSING',
    'accessRights[1].allowedUrls[0].methods[0] UNKNOWN_METHOD',
    'aliass UNKNOWN_FIELD',
    'basicAuthData.hashType WEAK_HASH',
    'basicAuthData.password MASKED_SECRET',
    'expires WRONG_TYPE',
    'quotaMax OUT_OF_RANGE',
    'rate WRONG_TYPE',
    'tags[0] EMPTY',
    'tags[1] WRONG_TYPE',
  ];
  const literal = `{ rate: "hunter2-a", expires: "hunter2-b", quotaMax: -2, aliass: "hunter2-c", tags: ["", 7],
    accessRights: [{ apiID: "a" }, { label: "b", allowedUrls: [{ methods: ["hunter2"] }] }],
    basicAuthData: { hashType: "md5", password: "***" } }`;

  it.each([
    ['a variable', '$i', { i: wrong }],
    ['a literal', literal, {}],
  ])('returns all issues with paths for %s, and quotes no value', async (_, input, variables) => {
    const declared = (type: string) => (input === '$i' ? `($i: ${type}!)` : '');
    const preview = `query ${declared('PreviewKeyInput')} { previewKey(input: ${input}) { keyID } }`;
    const update = `mutation ${declared('UpdateKeyInput')} { updateOrgKey(keyID: "k1", input: ${input}) { status } }`;
    for (const query of [preview, update]) {
      const response = await rejected(() => t.graphql(query, variables));
      expect([response.status, codesOf(response)]).toStrictEqual([200, ['INVALID']]);
      expect(issuesOf(response)).toStrictEqual(problems);
      expect(response.text + t.logs()).not.toContain('hunter2');
    }
  });

  it('returns the same issues for a mixture of literals, nested variables and defaults', async () => {
    const response = await t.graphql(
      `query ($rate: Float, $url: [AllowedUrlInput!], $tags: [String!] = [" "]) { previewKey(input: {
        rate: $rate, quotaMax: -2, tags: $tags, accessRights: [{ label: "a", allowedUrls: $url }] }) { keyID } }`,
      { rate: 'hunter2', url: [{ url: '' }] },
    );
    expect(codesOf(response)).toStrictEqual(['INVALID']);
    expect(issuesOf(response)).toStrictEqual([
      'accessRights[0].allowedUrls[0].url EMPTY',
      'quotaMax OUT_OF_RANGE',
      'rate WRONG_TYPE',
      'tags[0] EMPTY',
    ]);
    expect(response.text).not.toContain('hunter2');
  });

  it.each([
    ['an argument', 'mutation { consumeOrgQuota(keyID: "k1", amount: 1e400) { __typename } }', 'amount'],
    ['a definition', '{ previewKey(input: { metaData: { a: [1, 1e400] } }) { keyID } }', 'metaData.a[1]'],
    ['a default', 'query ($rate: Float = 1e400) { previewKey(input: { rate: $rate }) { keyID } }', 'rate'],
  ])('names the place of a number that is too large in %s', async (_, query, path) => {
    const response = await rejected(() => t.graphql(query));
    expect(response.status).toBe(200);
    expect(errorsOf(response)).toMatchObject([
      { message: `\`${path}\` is a number that is too large.`, extensions: { code: 'INVALID' } },
    ]);
    expect(issuesOf(response)).toStrictEqual([`${path} OUT_OF_RANGE`]);
  });

  it('returns all issues of a definition that only violates rules', async () => {
    const response = await t.graphql(
      `{ previewKey(input: { smoothing: { enabled: true }, dateCreated: "yesterday", tags: [" "] }) { keyID } }`,
    );
    expect(errorsOf(response)).toMatchObject([{ message: 'The key definition has 6 problems.', path: ['previewKey'] }]);
    expect(issuesOf(response)).toStrictEqual([
      'dateCreated MALFORMED_DATE',
      'smoothing.delay INCOMPLETE_SMOOTHING',
      'smoothing.step INCOMPLETE_SMOOTHING',
      'smoothing.threshold INCOMPLETE_SMOOTHING',
      'smoothing.trigger INCOMPLETE_SMOOTHING',
      'tags[0] EMPTY',
    ]);
  });

  it('reports fields of the other variant', async () => {
    const response = await t.graphql('query ($i: PreviewKeyInput!) { previewKey(input: $i) { keyID } }', {
      i: { rsaCertificateID: 'x', enableDetailRecording: true },
    });
    expect(issuesOf(response)).toStrictEqual(['enableDetailRecording WRONG_VARIANT', 'rsaCertificateID WRONG_VARIANT']);
    const literal = await t.graphql('mutation { updateOrgKey(keyID: "k1", input: { keyID: "x" }) { status } }');
    expect(issuesOf(literal)).toStrictEqual(['keyID WRONG_VARIANT']);
  });

  it('rejects numbers out of range in a literal, a default and a variable', async () => {
    for (const number of ['1e400', '-1e999']) {
      for (const query of [
        `{ previewKey(input: { expires: ${number} }) { keyID } }`,
        `{ previewKey(input: { rate: ${number} }) { keyID } }`,
        `{ previewKey(input: { metaData: ${number} }) { keyID } }`,
        `query ($n: Int64 = ${number}) { previewKey(input: { expires: $n }) { keyID } }`,
        `query ($n: Float = ${number}) { previewKey(input: { rate: $n }) { keyID } }`,
        `query ($n: JSON = ${number}) { previewKey(input: { metaData: $n }) { keyID } }`,
      ]) {
        const response = await t.graphql(query);
        expect(`${query} ${codesOf(response).join()}`).toBe(`${query} INVALID`);
      }
    }
    const body = `{"query":"query ($n: Float) { previewKey(input: { rate: $n }) { keyID } }","variables":{"n":1e400}}`;
    expect(codesOf(await t.post(body))).toStrictEqual(['INVALID']);
  });
});

describe('GraphQL’s own errors', () => {
  it.each([
    '{ previewKey(input: { alias: "hunter2 }) { keyID } }',
    '{ previewKey(input: { alias: "hunter2" "hunter2-b" }) { keyID } }',
    '{ previewKey(input: { alias "hunter2" }) { keyID } }',
    '{ previewKey "hunter2" }',
    '"hunter2"',
    '{ previewKey(input: """x"hunter2"y""") """a"hunter2"b""" }',
    '"""\n a"hunter2"\n"hunter2" """ 1',
    '{ a(b: hunter2$) }',
    "{ a(b: 'hunter2') }",
    '{ a(b: "\\hunter2") }',
    '{ a(b: "\\u{hunter2}") }',
    '{ a(b: 1hunter2) }',
    'hunter2 { a }',
    '\u0007hunter2',
    '',
    ' ',
    '{',
    '# only a comment',
  ])('quote nothing in syntax errors: %j', async (query) => {
    const response = await t.graphql(query);
    expect(new Set(codesOf(response))).toStrictEqual(new Set(['INVALID']));
    expect(response.text).not.toContain('hunter2');
    expect(t.logs()).not.toContain('hunter2');
    for (const { extensions } of errorsOf(response))
      expect(extensions.requestID).toBe(response.headers.get('x-request-id'));
  });

  it.each([
    ['{ previewKey(input: {}) { nope } }', 'Cannot query field "nope" on type "KeyPreview".'],
    [
      '{ updateOrgKey(keyID: "k1", input: {}) { status } }',
      'Cannot query field "updateOrgKey" on type "Query". Did you mean "explainOrgKey"?',
    ],
    ['{ previewKey { keyID } }', '`input` is required.'],
    ['{ previewKey(input: {}) }', expect.stringContaining('must have a selection of subfields')],
    ['{ ...f }', 'Unknown fragment "f".'],
  ])('name unknown parts of the schema: %s', async (query, message) => {
    const response = await t.graphql(query);
    expect(codesOf(response)[0]).toBe('INVALID');
    expect(errorsOf(response)[0]?.message).toStrictEqual(message);
    expect(response.body).not.toHaveProperty('data');
  });
});

describe('an operation', () => {
  it('is selected by its name', async () => {
    const query =
      'query A { previewKey(input: {alias: "a"}) { data { alias } } } query B { previewKey(input: {alias: "b"}) { data { alias } } }';
    expect(dataOf(await t.post({ query, operationName: 'B' }))).toMatchObject({ data: { alias: 'b' } });
    expect(codesOf(await t.post({ query }))).toStrictEqual(['INVALID']);
    const unknown = await t.post({ query, operationName: 'hunter2' });
    expect(codesOf(unknown)).toStrictEqual(['INVALID']);
    expect(unknown.text).not.toContain('hunter2');
  });

  it('reports the issues of the selected operation of several', async () => {
    const query = `query A { previewKey(input: { rate: "x" }) { keyID } } mutation B { updateOrgKey(keyID: "k1", input: { per: "x" }) { status } }`;
    const headers = { 'x-svc-authorization': '' };
    expect(issuesOf(await t.post({ query, operationName: 'A' }, headers))).toStrictEqual(['rate WRONG_TYPE']);
    expect(codesOf(await t.post({ query, operationName: 'B' }, headers))).toStrictEqual(['UNAUTHENTICATED']);
  });

  it('can have fragments and aliases at its root', async () => {
    const { body } = await t.graphql(`query { ...f ... on Query { b: previewKey(input: {keyID: "b"}) { ...g } } }
      fragment f on Query { a: previewKey(input: {keyID: "a"}) { ...g } }
      fragment g on KeyPreview { keyID }`);
    expect(body).toStrictEqual({ data: { a: { keyID: 'a' }, b: { keyID: 'b' } } });
  });

  it('reports issues inside fragments and aliases at its root, each alone', async () => {
    const query = `query { ...f ... on Query { b: previewKey(input: {per: "x"}) { keyID } } }
      fragment f on Query { a: previewKey(input: {rate: "x"}) { keyID } }`;
    const issues = errorsOf(await t.graphql(query)).flatMap(({ extensions }) => extensions.issues ?? []);
    expect(issues.map(({ path, code }) => `${path} ${code}`).toSorted()).toStrictEqual([
      'per WRONG_TYPE',
      'rate WRONG_TYPE',
    ]);
    expect(codesOf(await t.graphql(query, {}, { authorization: '' }))).toStrictEqual(['UNAUTHENTICATED']);
  });

  it.each([
    ['query={__typename}&query={nothing}', 'query'],
    ['query={__typename}&variables={}&variables={}', 'variables'],
    ['query={__typename}&foo=1', 'foo'],
    ['query={__typename}&Query={__typename}', 'Query'],
    ['query={__typename}&operationName=%ff', 'operationName'],
    ['query={__typename}%00', 'query'],
    ['query={__typename}&', ''],
  ])('is rejected by GET with ?%s, which names the parameter', async (parameters, path) => {
    const response = await t.send(`/graphql?${parameters.replaceAll(/[{}]/g, encodeURIComponent)}`, {
      headers: t.credentials,
    });
    expect([response.status, issuesOf(response)]).toEqual([400, [`${path} MALFORMED_ARGUMENT`]]);
  });

  it('can be requested by GET if it is a query', async () => {
    const query = 'query ($i: PreviewKeyInput!) { previewKey(input: $i) { keyID } }';
    expect(dataOf(await t.graphqlByGET({ query, variables: '{"i":{"keyID":"k"}}' }))).toStrictEqual({ keyID: 'k' });
    const mutation = 'mutation { updateOrgKey(keyID: "k1", input: {}) { status } }';
    const response = await rejected(() => t.graphqlByGET({ query: mutation }));
    expect(response.status).toBe(405);
    expect(codesOf(response)).toStrictEqual(['INVALID']);
  });

  it.each([[null], [{}], [{ query: '{ __typename }', nonsense: 1 }]])('is rejected if the body is %j', async (body) => {
    const response = await t.post(body ?? 'null', { accept: 'application/graphql-response+json' });
    expect(response.status).toBe(400);
    expect(codesOf(response)).toStrictEqual(['INVALID']);
    expect(errorsOf(response)[0]?.extensions.requestID).toBe(response.headers.get('x-request-id'));
  });

  it.each(['', '{', 'hunter2', '{"query":"{ __typename }"} hunter2', '{"query":"{ __typename }","query":"hunter2"}'])(
    'is rejected if the body is the text %j, which is not quoted',
    async (body) => {
      const response = await t.post(body);
      expect([response.status, codesOf(response)]).toStrictEqual([400, ['INVALID']]);
      expect(response.text).not.toContain('hunter2');
    },
  );

  it.each([
    [
      'application/x-www-form-urlencoded',
      'query=mutation%20%7B%20updateOrgKey(keyID%3A%22k1%22%2Cinput%3A%7B%7D)%7Bstatus%7D%7D',
    ],
    ['text/plain', '{"query":"mutation { updateOrgKey(keyID: \\"k1\\", input: {}) { status } }"}'],
    ['application/graphql', 'mutation { updateOrgKey(keyID: "k1", input: {}) { status } }'],
    [
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="operations"\r\n\r\n{"query":"mutation { updateOrgKey(keyID: \\"k1\\", input: {}) { status } }"}\r\n--x--\r\n',
    ],
    ['application/json; charset=latin1', '{"query":"{ __typename }"}'],
    ['application/graphql-response+json', '{"query":"{ __typename }"}'],
  ])('is rejected in a body of type %s', async (type, body) => {
    const response = await rejected(() => t.post(body, { 'content-type': type }));
    expect([response.status, codesOf(response)]).toStrictEqual([415, ['INVALID']]);
  });

  it.each(['PUT', 'DELETE', 'PATCH'])('is rejected over %s', async (method) => {
    const headers = { 'content-type': 'application/json' };
    const { status } = await t.send('/graphql', { method, headers, body: '{"query":"{ __typename }"}' });
    expect(status).toBe(405);
  });
});

describe('a caller without a credential', () => {
  const unauthenticated = (response: TestResponse) => {
    const errors = errorsOf(response);
    expect(errors.length).toBeGreaterThan(0);
    for (const { message, extensions } of errors) {
      expect(message).toMatch(/^A valid (management |service )?credential is required/);
      expect(extensions).toStrictEqual({ code: 'UNAUTHENTICATED', requestID: response.headers.get('x-request-id') });
    }
  };

  it.each(['{}', '{ rate: "x" }', '{ rate: 1, nope: 2 }', '{ tags: [" "] }', '{ expires: 1e999 }', '"x"', 'null'])(
    'receives no issues of %s in a literal',
    async (literal) => {
      unauthenticated(await t.graphql(`{ previewKey(input: ${literal}) { keyID } }`, {}, noCredentials));
      unauthenticated(
        await t.graphql(`mutation { updateOrgKey(keyID: "", input: ${literal}) { status } }`, {}, noCredentials),
      );
      unauthenticated(await t.graphql(`{ previewKey(input: ${literal}) { keyID nope } }`, {}, noCredentials));
    },
  );

  it.each([[{}], [{ rate: 'x' }], [{ nope: 1 }], [{ tags: [' '] }], ['x'], [null], [undefined]])(
    'receives no issues of %j in a variable',
    async (input) => {
      unauthenticated(
        await t.graphql(
          'query ($i: PreviewKeyInput!) { previewKey(input: $i) { keyID } }',
          { i: input },
          noCredentials,
        ),
      );
      unauthenticated(await t.graphql(update, { keyID: '', input, resetQuota: 'x' }, noCredentials));
    },
  );
});
