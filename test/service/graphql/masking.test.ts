import { describe, expect, it } from 'vitest';
import { errorsOf } from '../../support/responses.js';
import { startSharedApp, type TestResponse } from '../../support/app.js';
import { serveWith } from '../../support/overridden-server.js';

const t = await startSharedApp();
await t.importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 5 });

const secret = 'hunter2';
const query = '{ orgKey(by: { keyID: "k1" }) { keyHash version state quota { used } } }';

/** Everything that code can throw, each with something that must not be shown. */
const thrown: readonly (readonly [string, unknown])[] = [
  ['an Error', new Error(secret)],
  ['a text', secret],
  ['null', null],
  ['undefined', undefined],
  ['an object', { message: secret, toString: () => secret, toJSON: () => secret }],
  ['several errors', new AggregateError([new Error(secret), secret], secret)],
  ['an error that holds errors', Object.assign(new Error(secret), { errors: [new Error(secret)] })],
  ['an error with extensions', Object.assign(new Error(secret), { extensions: { secret, http: { status: 418 } } })],
  ['an aborted wait', new DOMException(secret, 'AbortError')],
  ['a wait that took too long', new DOMException(secret, 'TimeoutError')],
];

function fail(value: unknown): never {
  throw value;
}

/** Asserts that a response reports an internal error without its details. */
function expectMasked(response: TestResponse, logs: string): void {
  expect(errorsOf(response).length).toBeGreaterThan(0);
  for (const { message, extensions } of errorsOf(response)) {
    expect(message).toBe('Internal error.');
    expect(extensions).toStrictEqual({ code: 'INTERNAL', requestID: 'request-1' });
  }
  expect(response.text).not.toContain(secret);
  expect([...response.headers.values()].join()).not.toContain(secret);
  expect(response.text).not.toMatch(/\bat \w+ \(|\.[jt]s:\d/);
  expect(logs).toContain('internal error');
  expect(logs).toContain('request-1');
}

describe.each(thrown)('%s', (_, value) => {
  it('G-15 masks an error that a resolver throws', async () => {
    const { graphql, logs } = serveWith(t, { keys: { stateOf: () => fail(value) } });
    const response = await graphql(query);
    expectMasked(response, logs());
    expect(response.body['data']).toStrictEqual({ orgKey: null });
    expect(response.status).toBe(200);
  });

  it('G-15 masks an error that a promise rejects with', async () => {
    const { graphql, logs } = serveWith(t, { keys: { orgKeysByHash: async () => fail(value) } });
    expectMasked(await graphql(query), logs());
  });

  it('G-15 masks an error that a mutation throws', async () => {
    const { graphql, logs } = serveWith(t, { keys: { deleteOrgKey: () => fail(value) } });
    const response = await graphql('mutation { deleteOrgKey(keyID: "k1") { version } }');
    expectMasked(response, logs());
    expect(errorsOf(response)[0]?.path).toStrictEqual(['deleteOrgKey']);
  });

  it('G-15 masks an error that the context throws, and fails the request', async () => {
    const { graphql, logs } = serveWith(t, { authenticate: async () => fail(value) });
    const response = await graphql(query);
    expectMasked(response, logs());
    expect(response.status).toBe(500);
    expect(response.body).not.toHaveProperty('data');
  });

  it.each(['onRequestParse', 'onParams', 'onExecutionResult'])(
    'G-15 masks an error that a plugin throws %s',
    async (hook) => {
      const { graphql, logs } = serveWith(t, { plugins: [{ [hook]: () => fail(value) }] });
      const response = await graphql(query);
      expectMasked(response, logs());
      expect(response.status).toBe(500);
    },
  );
});

describe('a value that its type cannot serialize', () => {
  it.each([
    ['an Int64', 'quota { used }', { quotaOf: () => ({ used: Symbol(secret) }) }],
    ['an Int', 'version', { orgKeysByHash: async () => [{ version: secret }] }],
    ['a text', 'keyHash', { orgKeysByHash: async () => [{ keyHash: { [secret]: secret } }] }],
    ['an enum', 'state', { stateOf: () => secret }],
    ['what is never null', 'version', { orgKeysByHash: async () => [{ version: null }] }],
    ['anything, being an Error', 'state', { stateOf: () => new Error(secret) }],
  ])('G-15 masks the error for %s', async (_, selected, keys) => {
    const { graphql, logs } = serveWith(t, { keys: { hasIdentifier: () => true, ...keys } as never });
    expectMasked(await graphql(`{ orgKey(by: { keyID: "k1" }) { ${selected} } }`), logs());
  });
});

describe('an error outside GraphQL', () => {
  it('G-15 masks it, and returns no stack', async () => {
    const { whyNotReady } = t.app.services;
    Object.assign(t.app.services, { whyNotReady: () => fail(new Error(secret)) });
    const response = await t.send('/ready');
    Object.assign(t.app.services, { whyNotReady });
    expect(response.status).toBe(500);
    expect(response.body).toStrictEqual({
      status: 'error',
      message: 'Internal error.',
      code: 'INTERNAL',
      request_id: response.headers.get('x-request-id'),
    });
    expect(t.logs()).toContain(secret);
  });
});
