import { describe, expect, it } from 'vitest';
import { createToken } from '../../../src/credentials/token.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { startOwnServer } from '../../support/server.js';
import { timersDueWithin } from '../../support/until.js';
import { connectSocket } from '../../support/websocket.js';
import { startIssuer } from './issuer.js';

/** A token of the company's router, and other values that are not meant for Keyfront. */
const foreign: Readonly<Record<string, string>> = {
  'a company token':
    'Bearer eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL3Nzby5jb21wYW55LmV4YW1wbGUiLCJzdWIiOiJhbmEifQ.c2ln',
  'an opaque token': 'Bearer 2YotnFZFEjr1zCsicMWpAA',
  'a token of 64 kB': `Bearer ${'x'.repeat(65_536)}`,
  'a token of 64 kB that looks like a JWT': `Bearer ${'x'.repeat(65_530)}.y.z`,
  'basic authentication': 'Basic dXNlcjpwYXNzd29yZA==',
  'a scheme that is not ours': 'Negotiate YII=',
  'several values': 'Bearer abc, Bearer def',
  'a prefix inside': 'Bearer my_kf_mgt_token',
};

const address = '192.0.2.1';
const read = '{ orgKey(by: { keyID: "k1" }) { version } }';
const preview = '{ previewKey(input: {}) { keyHash } }';

async function start(settings: Record<string, string> = {}): Promise<TestApp> {
  const t = await startOwnApp(settings);
  await t.importKeys({ key_id: 'k1', org_id: 'acme' });
  return t;
}

interface Sent {
  readonly status: number;
  readonly code: unknown;
  readonly body: Record<string, unknown>;
}

async function sendFrom(t: TestApp, path: string, body: object, headers: Record<string, string>, method = 'POST') {
  const request = new Request(`http://keyfront.test${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const response = await t.app.fetch(request, address);
  const parsed = (await response.json()) as Record<string, unknown>;
  const [error] = (parsed['errors'] ?? []) as { extensions: { code: string } }[];
  return { status: response.status, code: error?.extensions.code ?? parsed['code'], body: parsed } satisfies Sent;
}

const graphql = (t: TestApp, query: string, headers: Record<string, string>) =>
  sendFrom(t, '/graphql', { query }, headers);

/** The log lines about rejected credentials, which are written a little later. */
async function rejections(t: TestApp) {
  await timersDueWithin(60);
  return t.logLines('"event":"authentication"');
}

/** Whether the address may fail ten times more, and no more than that. */
async function expectNoneCounted(t: TestApp): Promise<void> {
  const guess = () => graphql(t, preview, { authorization: `Bearer ${createToken('management')}` });
  for (let count = 0; count < 10; count += 1) expect((await guess()).code).toBe('UNAUTHENTICATED');
  expect((await guess()).code).toBe('RATE_LIMITED');
}

describe.each(Object.entries(foreign))('an Authorization for other services: %s', (_what, authorization) => {
  it('is ignored by operations that need the service credential: none is counted, logged or limited', async () => {
    const t = await start();
    const headers = { authorization, 'x-svc-authorization': t.service };
    for (let count = 0; count < 15; count += 1) {
      expect((await graphql(t, read, headers)).body).toStrictEqual({ data: { orgKey: { version: 1 } } });
      expect((await sendFrom(t, '/svc/org/keys/k1', { org_id: 'acme' }, headers, 'PUT')).status).toBe(200);
      // Without the service credential as well, whose absence is the only error.
      expect((await graphql(t, read, { authorization })).code).toBe('UNAUTHENTICATED');
    }
    expect(await rejections(t)).toStrictEqual([]);
    await expectNoneCounted(t);
  });

  it('is UNAUTHENTICATED and logged once a request for a preview, and is no attempt to guess', async () => {
    const t = await start();
    const headers = { authorization, 'x-svc-authorization': t.service };
    const twice = '{ a: previewKey(input: {}) { keyHash } b: previewKey(input: {}) { keyHash } }';
    for (let count = 0; count < 15; count += 1) expect((await graphql(t, twice, headers)).code).toBe('UNAUTHENTICATED');
    const rest = await sendFrom(t, '/api/keys/preview', {}, { authorization });
    expect([rest.status, rest.code]).toStrictEqual([401, 'UNAUTHENTICATED']);
    const lines = await rejections(t);
    expect(lines).toHaveLength(16);
    for (const line of lines) expect(line).toMatchObject({ kind: 'management', reason: 'malformed', level: 'info' });
    expect(t.logs()).not.toContain(authorization.split(' ')[1]);
    await expectNoneCounted(t);
  });
});

describe('a document with fields of both kinds of credentials', () => {
  it('returns the fields of the service credential, and UNAUTHENTICATED for the preview alone', async () => {
    const t = await start();
    const { body } = await graphql(t, '{ previewKey(input: {}) { keyHash } orgKey(by: { keyID: "k1" }) { version } }', {
      authorization: 'Bearer company-token',
      'x-svc-authorization': t.service,
    });
    expect(body).toMatchObject({
      data: { previewKey: null, orgKey: { version: 1 } },
      errors: [{ path: ['previewKey'], extensions: { code: 'UNAUTHENTICATED' } }],
    });
  });
});

describe('a value that looks like a credential of ours', () => {
  const valid = createToken('management');
  it.each<[string, string]>([
    ['with the wrong checksum', `Bearer ${valid.slice(0, -1)}${valid.endsWith('a') ? 'b' : 'a'}`],
    ['that is too short', 'Bearer kf_mgt_x'],
    ['of 64 kB', `Bearer kf_mgt_${'x'.repeat(65_536)}`],
    ['that has the form of a JWT', 'Bearer kf_mgt_a.b.c'],
    ['of the kind service', `Bearer ${createToken('service')}`],
    ['in another scheme', `Basic ${valid}`],
    ['without a scheme', valid],
    ['after a tab', `Bearer\t${valid}`],
  ])('counts and is logged %s, beside a valid service credential too', async (_what, authorization) => {
    const t = await start();
    const headers = { authorization, 'x-svc-authorization': t.service };
    for (let count = 0; count < 10; count += 1) expect((await graphql(t, read, headers)).code).toBeUndefined();
    expect((await graphql(t, preview, headers)).code).toBe('RATE_LIMITED');
    expect((await graphql(t, read, headers)).body).toStrictEqual({ data: { orgKey: { version: 1 } } });
    expect(await rejections(t)).toHaveLength(12);
  });

  it('counts every value of the header X-Svc-Authorization, which is for Keyfront alone', async () => {
    const t = await start();
    for (let count = 0; count < 10; count += 1) await graphql(t, read, { 'x-svc-authorization': `company ${count}` });
    expect((await graphql(t, read, { 'x-svc-authorization': 'company' })).code).toBe('RATE_LIMITED');
  });
});

describe('with single sign-on', () => {
  it('only what is not genuine counts: a router may forward tokens of the same issuer for itself', async () => {
    const issuer = await startIssuer();
    const t = await start({ KEYFRONT_OIDC_ISSUER: issuer.url, KEYFRONT_OIDC_AUDIENCE: 'keyfront' });
    const iat = Math.floor(t.clock.now.getTime() / 1000);
    const claims = { iss: issuer.url, aud: 'company-graph', sub: 'ana', iat, exp: iat + 300 };
    const genuine = `Bearer ${await issuer.sign(claims)}`;
    const other = `Bearer ${await issuer.sign({ ...claims, iss: 'https://sso.other.example' })}`;
    for (let count = 0; count < 10; count += 1) {
      for (const authorization of [genuine, other]) {
        const headers = { authorization, 'x-svc-authorization': t.service };
        expect((await graphql(t, read, headers)).code).toBeUndefined();
      }
    }
    expect(await rejections(t)).toStrictEqual([]);
    for (const authorization of [genuine, other]) {
      expect((await graphql(t, preview, { authorization })).code).toBe('UNAUTHENTICATED');
    }
    expect((await rejections(t)).map(({ reason }) => reason)).toStrictEqual(['claim aud', 'issuer']);

    const forger = await startIssuer();
    const forged = `Bearer ${await forger.sign({ ...claims, aud: 'keyfront' })}`;
    for (let count = 0; count < 10; count += 1) {
      await graphql(t, read, { authorization: forged, 'x-svc-authorization': t.service });
    }
    expect((await graphql(t, preview, { authorization: forged })).code).toBe('RATE_LIMITED');
    await Promise.all([issuer.close(), forger.close()]);
  });
});

describe('a service that permits introspection with a credential only', () => {
  it('logs a foreign Authorization that was needed, and none beside a valid credential', async () => {
    const t = await start({ KEYFRONT_INTROSPECTION: 'credential' });
    const authorization = 'Bearer company-token';
    expect(
      (await graphql(t, '{ __schema { description } }', { authorization, 'x-svc-authorization': t.service })).code,
    ).toBeUndefined();
    expect(await rejections(t)).toStrictEqual([]);
    expect((await graphql(t, preview, { authorization })).code).toBe('UNAUTHENTICATED');
    expect((await t.send('/openapi.json', { headers: { authorization } })).status).toBe(401);
    expect(await rejections(t)).toHaveLength(2);
  });
});

describe('a WebSocket with a foreign Authorization', () => {
  it.each<[string, object, Record<string, string>]>([
    ['in its connectionParams', { authorization: 'Bearer company' }, {}],
    ['in its handshake', {}, { authorization: 'Bearer company' }],
  ])('%s serves operations of its service credential, and counts and logs nothing', async (_what, params, headers) => {
    const { t, url } = await startOwnServer();
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    const socket = await connectSocket(url, { 'x-svc-authorization': t.service, ...params }, headers);
    for (let id = 1; id <= 15; id += 1) {
      const message = await socket.request(read, {}, String(id));
      expect(message).toMatchObject({ payload: { data: { orgKey: { version: 1 } } } });
    }
    expect(await rejections(t)).toStrictEqual([]);
    expect(await socket.request(preview, {}, 'p')).toMatchObject({
      payload: { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] },
    });
    expect(await rejections(t)).toHaveLength(1);
    socket.socket.terminate();
  });
});
