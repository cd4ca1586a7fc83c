import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noCredentials, startApp, type TestResponse, type TestApp } from '../../support/app.js';
import { codeOf } from '../../support/responses.js';

const apps: Record<string, TestApp> = {};
beforeAll(async () => {
  apps['open'] = await startApp();
  apps['credential'] = await startApp({ KEYFRONT_INTROSPECTION: 'credential' });
});
afterAll(async () => {
  for (const t of Object.values(apps)) await t.close();
});

const types = ['text/event-stream', 'application/json', '*/*'];

function post(t: TestApp, accept: string, query: string, headers: Record<string, string> = {}): Promise<TestResponse> {
  return t.post({ query, variables: { yes: true } }, { ...noCredentials, accept, ...headers });
}

describe.each(['open', 'credential'])('A subscription, introspection being %s,', (introspection) => {
  const follow = (
    accept: string,
    credential: string | undefined,
    query = 'subscription { orgKeyChanged { cursor } }',
  ) => {
    const t = apps[introspection];
    if (!t) throw new Error('There is no such app.');
    return post(t, accept, query, credential === undefined ? {} : { 'x-svc-authorization': credential });
  };
  const service = () => apps[introspection]?.service;

  it.each(types)('is rejected with 401 without a valid credential, for Accept: %s', async (accept) => {
    for (const credential of [undefined, 'wrong']) {
      const response = await follow(accept, credential);
      expect([response.status, response.text]).toEqual([401, expect.stringContaining('UNAUTHENTICATED')]);
    }
  });

  it.each([
    ['@skip(if: true)', 'subscription { orgKeyChanged @skip(if: true) { cursor } }'],
    ['@include(if: false)', 'subscription { orgKeyChanged @include(if: false) { cursor } }'],
    ['a condition by variable', 'subscription ($yes: Boolean!) { orgKeyChanged @skip(if: $yes) { cursor } }'],
    ['a condition that holds', 'subscription { orgKeyChanged @include(if: true) { cursor } }'],
    ['a conditional inline fragment', 'subscription { ... @skip(if: true) { orgKeyChanged { cursor } } }'],
    [
      'a condition in a fragment',
      'subscription { ...F } fragment F on Subscription { orgKeyChanged @skip(if: true) { cursor } }',
    ],
    [
      'a conditional spread',
      'subscription { ...F @skip(if: true) } fragment F on Subscription { orgKeyChanged { cursor } }',
    ],
  ])('is rejected with 400 and INVALID for %s on its root field', async (_what, query) => {
    const response = await follow('text/event-stream', service(), query);
    expect([response.status, codeOf(response)]).toEqual([400, 'INVALID']);
    expect(response.text).toContain('must not use `@skip` or `@include` directives in the top level selection');
  });

  it.each([
    ['no document', 'subscription {'],
    ['no field of the schema', 'subscription { nothing { cursor } }'],
    [
      'beyond the limits',
      `subscription { ${Array.from({ length: 16 }, (_, index) => `a${index}: orgKeyChanged { cursor }`).join(' ')} }`,
    ],
    ['an unknown argument', 'subscription { orgKeyChanged(x: 1) { cursor } }'],
  ])('is rejected with 400 when it is %s, for Accept: text/event-stream', async (_what, query) => {
    const response = await follow('text/event-stream', service(), query);
    expect([response.status, codeOf(response)]).toEqual([400, 'INVALID']);
  });

  it('has a response in JSON when it is rejected, because clients of event streams discard its events', async () => {
    for (const [accept, type] of [
      ['text/event-stream', 'application/graphql-response+json'],
      ['text/event-stream, application/json;q=0.5', 'application/json'],
      ['multipart/mixed;subscriptionSpec="1.0", text/event-stream', 'application/graphql-response+json'],
    ] as const) {
      const { status, headers, body } = await follow(accept, 'wrong');
      expect([status, headers.get('content-type')]).toEqual([401, `${type}; charset=utf-8`]);
      expect(body['errors']).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
    }
  });

  it('can have @skip and @include below its root field', async () => {
    const query =
      'subscription { orgKeyChanged { cursor ... on OrgKeyChanged { entry @skip(if: true) { version } } } }';
    const response = await follow('text/event-stream', service(), query);
    expect([response.status, response.body]).toEqual([
      200,
      { data: { orgKeyChanged: { cursor: expect.any(String) as string } } },
    ]);
  });
});

describe('A query or mutation', () => {
  const app = () => apps['open'] as TestApp;
  const headers = () => ({ 'x-svc-authorization': app().service });

  it.each([
    'query { orgKeys @skip(if: true) { totalCount } }',
    'mutation { deleteOrgKey(keyID: "k1") @include(if: false) { version } }',
    'query ($yes: Boolean!) { ... @skip(if: $yes) { orgKeys { totalCount } } }',
  ])('returns empty data when all of its root fields are skipped: %s', async (query) => {
    for (const _ of ['first', 'second']) {
      const response = await post(app(), 'application/json', query, headers());
      expect([response.status, response.body]).toEqual([200, { data: {} }]);
    }
  });

  it('has the status of its error when a stream is all that is accepted, and 200 for application/json', async () => {
    for (const _ of ['first', 'from the cache']) {
      expect((await post(app(), 'text/event-stream', '{ nothing }', headers())).status).toBe(400);
      expect((await post(app(), 'application/json', '{ nothing }', headers())).status).toBe(200);
    }
  });
});
