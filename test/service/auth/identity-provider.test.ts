import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startApp, type TestApp } from '../../support/app.js';
import { audience, startIdentityProvider, type IdentityProvider } from '../../support/identity-provider.js';
import { readStream } from '../../support/event-stream.js';
import { codeOf, dataOf } from '../../support/responses.js';

let idp: IdentityProvider;
let t: TestApp;
beforeAll(async () => {
  idp = await startIdentityProvider();
});
afterAll(() => idp.close());
afterEach(() => vi.useRealTimers());
beforeEach(async () => {
  idp.mood = 'well';
  idp.claims = { name: 'Ada Lovelace', groups: ['keyfront-editors'] };
  t = await startApp({
    KEYFRONT_OIDC_ISSUER: idp.url,
    KEYFRONT_OIDC_AUDIENCE: audience,
    KEYFRONT_OIDC_MAPPING: JSON.stringify({
      rules: [{ claim: 'groups', value: 'keyfront-editors', role: 'editor', org: 'acme' }],
    }),
  });
  t.clock.now = new Date();
  await t.importKeys({ key_id: 'k1', org_id: 'acme' });
  return () => t.close();
});

const viewer = async (token: string) => t.graphql('{ viewer { credentialID } }', {}, inService(token));
const inService = (token: string) => ({ authorization: '', 'x-svc-authorization': token });
const pass = (seconds: number) => {
  t.clock.now = new Date(t.clock.now.getTime() + seconds * 1000);
};
const keyRequests = () => idp.requested.filter((path) => path === 'GET /jwks').length;

describe('a token of a real OpenID provider', () => {
  it('signs on in either header, and the history names the person and the client', async () => {
    const token = await idp.serviceToken();
    const query = '{ viewer { credentialID label kind client scopes orgID } }';
    const expected = {
      credentialID: 'oidc:ci',
      label: 'Ada Lovelace',
      kind: 'token',
      client: 'ci',
      scopes: ['READ', 'CREATE', 'UPDATE', 'DELETE', 'PROPOSE'],
      orgID: 'acme',
    };
    const inAuthorization = { authorization: `Bearer ${token}`, 'x-svc-authorization': '' };
    for (const headers of [inService(token), inAuthorization]) {
      expect(dataOf(await t.graphql(query, {}, headers))).toStrictEqual(expected);
      expect((await t.preview({}, headers)).status).toBe(200);
    }
    const changed = await t.update('k1', { tags: ['x'] }, '', inAuthorization);
    expect(changed.status).toBe(200);
    const history = await t.graphql(
      '{ orgKey(by: { keyID: "k1" }) { history(last: 1) { edges { node { actor { credentialID label client assertedName } } } } } }',
    );
    expect(history.text).toContain(
      '{"credentialID":"oidc:ci","label":"Ada Lovelace","client":"ci","assertedName":null}',
    );
  });

  it('is accepted after the provider has replaced its key, which is fetched once', async () => {
    expect(codeOf(await viewer(await idp.serviceToken()))).toBeUndefined();
    const before = keyRequests();
    const old = await idp.serviceToken();
    idp.rotateKey();
    pass(31);
    const token = await idp.serviceToken();
    const responses = await Promise.all(Array.from({ length: 20 }, () => viewer(token)));
    expect(responses.map(codeOf)).toStrictEqual(responses.map(() => undefined));
    expect(keyRequests()).toBe(before + 1);
    // The old key is not published any more.
    expect(codeOf(await viewer(old))).toBe('UNAUTHENTICATED');
  });

  it('is accepted until it expires while the provider is away, and not after it', async () => {
    const token = await idp.serviceToken();
    expect(codeOf(await viewer(token))).toBeUndefined();
    idp.mood = 'gone';
    pass(290);
    expect(codeOf(await viewer(token))).toBeUndefined();
    // The tolerance of clocks is a minute.
    pass(9 + 59);
    expect(codeOf(await viewer(token))).toBeUndefined();
    pass(3);
    expect(codeOf(await viewer(token))).toBe('UNAUTHENTICATED');
  });

  it('is UNAVAILABLE while the provider is away and its keys were never fetched, and accepted as soon as it is back', async () => {
    const token = await idp.serviceToken();
    idp.mood = 'gone';
    expect(codeOf(await viewer(token))).toBe('UNAVAILABLE');
    expect(codeOf(await t.graphql('{ viewer { label } }'))).toBeUndefined();
    idp.mood = 'well';
    pass(10);
    expect(codeOf(await viewer(token))).toBeUndefined();
  });

  it('ends a subscription with UNAUTHENTICATED when it expires', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const headers = {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      authorization: `Bearer ${await idp.serviceToken()}`,
    };
    const body = JSON.stringify({ query: 'subscription { orgKeyChanged(orgID: "acme") { cursor } }' });
    const request = new Request('http://keyfront.test/graphql', { method: 'POST', headers, body });
    const stream = readStream(await t.app.fetch(request));
    expect(await stream.next()).toMatchObject({ data: {} });
    await vi.advanceTimersByTimeAsync(5_000);
    pass(400);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(JSON.stringify(await stream.rest())).toContain('UNAUTHENTICATED');
  });

  it('causes a bounded number of requests to the provider, whatever names of keys strangers invent', async () => {
    const token = await idp.serviceToken();
    expect(codeOf(await viewer(token))).toBeUndefined();
    const [, payload = '', signature = ''] = token.split('.');
    const flood = async (count: number) => {
      const forged = Array.from({ length: count }, (_, index) => {
        const header = Buffer.from(JSON.stringify({ alg: 'RS256', kid: `made up ${index}` })).toString('base64url');
        return viewer(`${header}.${payload}.${signature}`);
      });
      await Promise.all(forged);
    };
    for (const mood of ['well', 'gone', 'well'] as const) {
      idp.mood = mood;
      pass(31);
      const before = idp.requested.length;
      for (let round = 0; round < 5; round += 1) await flood(100);
      // The discovery document and the keys.
      expect(idp.requested.length - before).toBeLessThanOrEqual(2);
    }
    expect(codeOf(await viewer(token))).toBeUndefined();
  });
});
