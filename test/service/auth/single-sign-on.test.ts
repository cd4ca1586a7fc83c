import { generateKeyPairSync, sign } from 'node:crypto';
import { exportSPKI, base64url, exportJWK, SignJWT, type JWTPayload } from 'jose';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSigningKeys, KeysUnavailable } from '../../../src/credentials/oidc-keys.js';
import { previewsOnly } from '../../../src/credentials/oidc-mapping.js';
import { createOIDCVerifier } from '../../../src/credentials/oidc.js';
import { createLogger } from '../../../src/lib/log.js';
import { startApp, type TestResponse, type TestApp } from '../../support/app.js';
import { codeOf } from '../../support/responses.js';
import { timersDueWithin } from '../../support/until.js';
import { startIssuer, type Issuer } from './issuer.js';

let issuer: Issuer;
let t: TestApp;
beforeEach(async () => {
  issuer = await startIssuer();
  t = await startWith({});
});
afterEach(async () => {
  await t.close();
  await issuer.close();
});

const startWith = (env: Record<string, string>) =>
  startApp({ KEYFRONT_OIDC_ISSUER: issuer.url, KEYFRONT_OIDC_AUDIENCE: 'keyfront', ...env });

const seconds = (offset = 0) => Math.floor(t.clock.now.getTime() / 1000) + offset;
const claims = (more: JWTPayload = {}): JWTPayload => ({
  iss: issuer.url,
  aud: 'keyfront',
  sub: 'ada',
  iat: seconds(),
  exp: seconds(300),
  ...more,
});
const without = (name: string) => Object.fromEntries(Object.entries(claims()).filter(([claim]) => claim !== name));

const preview = (token: string, definition: object = {}) => t.preview(definition, { authorization: `Bearer ${token}` });

function expectRejection(
  response: TestResponse,
  credential = 'management credential is required (Authorization: Bearer)',
): void {
  expect(response.status).toBe(401);
  expect(response.body).toMatchObject({ code: 'UNAUTHENTICATED', message: `A valid ${credential}.` });
}

/** A token that cannot be verified now. The token can be valid or not. */
function expectUnavailable(response: TestResponse): void {
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '10']);
  expect(response.body).toMatchObject({ code: 'UNAVAILABLE', message: 'The credential cannot be verified now.' });
}

/** The reasons in the log for which credentials were rejected, in order. They are written a little later. */
async function reasons(): Promise<string[]> {
  await timersDueWithin(40);
  return t.logLines('"event":"authentication"').map(({ reason }) => String(reason));
}

const unsigned = (header: object, payload: object) =>
  [header, payload].map((part) => base64url.encode(JSON.stringify(part))).join('.');

describe('a token of single sign-on', () => {
  it('authorizes a preview in both APIs', async () => {
    const token = await issuer.sign(claims());
    expect((await preview(token)).status).toBe(200);
    const { body } = await t.graphql('{ previewKey(input: {}) { keyHash } }', {}, { authorization: `bearer ${token}` });
    expect(body['errors']).toBeUndefined();
  });

  it.each(['RS256', 'PS256', 'ES256', 'EdDSA'])('accepts a signature with %s', async (alg) => {
    await issuer.addKey('other', alg);
    expect((await preview(await issuer.sign(claims(), 'other'))).status).toBe(200);
  });

  it('accepts several audiences that include ours', async () => {
    expect((await preview(await issuer.sign(claims({ aud: ['other', 'keyfront'] })))).status).toBe(200);
  });

  it('leaves stored credentials valid', async () => {
    expect((await preview(t.management)).status).toBe(200);
    expectRejection(await preview(t.service));
  });

  it.each<[string, () => JWTPayload, string]>([
    ['of another issuer', () => claims({ iss: 'https://evil.example' }), 'issuer'],
    ['of an issuer whose URL starts with ours', () => claims({ iss: `${issuer.url}/` }), 'issuer'],
    ['without an issuer', () => without('iss'), 'issuer'],
    ['for another audience', () => claims({ aud: 'other' }), 'claim aud'],
    ['for several other audiences', () => claims({ aud: ['other', 'keyfront2'] }), 'claim aud'],
    ['without an audience', () => without('aud'), 'claim aud'],
    ['that has expired', () => claims({ exp: seconds(-60) }), 'expired'],
    ['that never expires', () => without('exp'), 'claim exp'],
    ['whose expiry is no number', () => ({ ...claims(), exp: 'tomorrow' as unknown as number }), 'claim exp'],
    ['that is not valid yet', () => claims({ nbf: seconds(61) }), 'claim nbf'],
    ['without a subject', () => without('sub'), 'claim sub'],
    ['with an empty subject', () => claims({ sub: ' ' }), 'subject'],
  ])('rejects a token %s', async (_what, make, reason) => {
    const token = await issuer.sign(make());
    expectRejection(await preview(token));
    expect(await reasons()).toStrictEqual([reason]);
  });

  it('accepts clocks that differ by less than a minute', async () => {
    expect((await preview(await issuer.sign(claims({ exp: seconds(-59) })))).status).toBe(200);
    expect((await preview(await issuer.sign(claims({ nbf: seconds(60) })))).status).toBe(200);
  });

  it.each(['none', 'None', 'NONE', ''])('rejects an unsigned token with "alg": "%s"', async (alg) => {
    for (const end of ['.', '.x']) expectRejection(await preview(unsigned({ alg, kid: 'first' }, claims()) + end));
  });

  it.each(['HS256', 'HS384', 'HS512'])('rejects a token signed by %s with the public key as a secret', async (alg) => {
    await issuer.addKey('rsa', 'RS256');
    expect((await preview(await issuer.sign(claims(), 'rsa'))).status).toBe(200);
    const key = issuer.publicKey('rsa');
    for (const secret of [
      await exportSPKI(key),
      (await exportSPKI(key)).trim(),
      JSON.stringify(await exportJWK(key)),
    ]) {
      const forged = new SignJWT(claims()).setProtectedHeader({ alg, kid: 'rsa' });
      expectRejection(await preview(await forged.sign(new TextEncoder().encode(secret))));
    }
    expect(new Set(await reasons())).toStrictEqual(new Set(['ERR_JOSE_ALG_NOT_ALLOWED']));
  });

  it('rejects a signature by an unpublished key, for every key name and key URL in the token', async () => {
    const unknown = await startIssuer();
    const jwk = await exportJWK(unknown.publicKey('first'));
    const headers = [
      {},
      { kid: 'unknown' },
      { kid: undefined },
      { jwk },
      { kid: 'unknown', jwk },
      { jku: `${unknown.url}/keys` },
      { x5u: `${unknown.url}/keys` },
      { kid: `${unknown.url}/keys` },
    ];
    for (const header of headers) {
      const given = Object.fromEntries(Object.entries(header).filter(([, value]) => value !== undefined));
      expectRejection(await preview(await unknown.sign(claims(), 'first', given)));
    }
    expect(unknown.requested).toStrictEqual([]);
    await unknown.close();
  });

  it('rejects a token that was changed after it was signed', async () => {
    const [header = '', payload = '', signature = ''] = (await issuer.sign(claims())).split('.');
    const changed = base64url.encode(JSON.stringify(claims({ sub: 'eve' })));
    const last = signature.endsWith('A') ? 'Q' : 'A';
    for (const parts of [
      [header, changed, signature],
      [header, payload, ''],
      [header, payload, signature.slice(0, -2) + last + last],
      [base64url.encode('{"alg":"RS256","kid":"first"}'), payload, signature],
      [header, payload, signature, signature],
    ]) {
      expectRejection(await preview(parts.join('.')));
    }
  });

  it('rejects a token with a malformed part', async () => {
    const [header = '', payload = ''] = (await issuer.sign(claims())).split('.');
    for (const token of ['a.b.c', '..', `${header}..`, `.${payload}.`, 'e30.e30.', `${header}.bnVsbA.x`]) {
      expectRejection(await preview(token));
    }
  });

  it('rejects a token that requires an unknown extension', async () => {
    expectRejection(await preview(unsigned({ alg: 'ES256', kid: 'first', crit: ['x'], x: 1 }, claims()) + '.x'));
  });

  it('accepts up to 12288 characters', async () => {
    const padded = async (length: number) => {
      for (let pad = 0; ; pad += 1) {
        const token = await issuer.sign(claims({ pad: 'x'.repeat(Math.floor((length * 3) / 4) - 330 + pad) }));
        if (token.length >= length) return token;
      }
    };
    const largest = await padded(12_286);
    expect(largest.length).toBeLessThanOrEqual(12_288);
    expect((await preview(largest)).status).toBe(200);
    const larger = await padded(12_289);
    expectRejection(await preview(larger));
    expect(await reasons()).toStrictEqual(['malformed']);
  });

  it('rejects the token as a service credential, in either header', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    const token = await issuer.sign(claims({ scope: 'service', kind: 'service' }));
    for (const headers of [
      { 'x-svc-authorization': token },
      { 'x-svc-authorization': `Bearer ${token}` },
      { 'x-svc-authorization': '', authorization: `Bearer ${token}` },
    ]) {
      expectRejection(await t.update('k1', {}, '', headers), 'service credential is required (X-Svc-Authorization)');
      const { body } = await t.graphql('mutation { updateOrgKey(keyID: "k1", input: {}) { status } }', {}, headers);
      expect(JSON.stringify(body)).toContain('UNAUTHENTICATED');
    }
  });

  it('writes no token to the log, accepted or rejected', async () => {
    const tokens = [
      await issuer.sign(claims()),
      await issuer.sign(claims({ aud: 'other' })),
      await issuer.sign(claims({ iss: 'https://evil.example' })),
      await issuer.sign(claims(), 'first', { kid: 'unknown' }),
      `${unsigned({ alg: 'none' }, claims())}.`,
    ];
    issuer.mood = 'failing';
    for (const token of tokens) await preview(token);
    issuer.mood = 'well';
    t.clock.now = new Date(t.clock.now.getTime() + 11_000);
    for (const token of tokens) await preview(token);
    expect((await reasons()).length).toBeGreaterThan(5);
    for (const part of tokens.flatMap((token) => token.split('.')).filter((part) => part.length > 8))
      expect(t.logs()).not.toContain(part);
  });

  describe('a rejected single sign-on token', () => {
    const send = async (token: string, address = '192.0.2.1') => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
      const request = new Request('http://keyfront.test/api/keys/preview', { method: 'POST', headers, body: '{}' });
      return (await t.app.fetch(request, address)).status;
    };

    it('counts as a failed attempt if it is not genuine', async () => {
      const forger = await startIssuer();
      for (let count = 0; count < 10; count += 1) expect(await send(await forger.sign(claims()))).toBe(401);
      expect(await send(await forger.sign(claims()))).toBe(429);
      await forger.close();
    });

    it('does not count when it is genuine and for another audience, as those that a router forwards', async () => {
      for (let count = 0; count < 30; count += 1) expect(await send(await issuer.sign(claims({ aud: 'x' })))).toBe(401);
    });

    it.each([512, 1024])('counts when its published RSA key has %i bits, which are too few', async (modulusLength) => {
      const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength });
      issuer.publish({ ...publicKey.export({ format: 'jwk' }), kid: 'small', use: 'sig' });
      const content = unsigned({ alg: 'RS256', kid: 'small' }, claims());
      const token = `${content}.${sign('sha256', Buffer.from(content), privateKey).toString('base64url')}`;
      for (let count = 0; count < 10; count += 1) expect(await send(token)).toBe(401);
      expect(await send(token)).toBe(429);
      expect(new Set(await reasons())).toStrictEqual(new Set(['unusable key']));
    });

    it('counts when its published key is no key', async () => {
      issuer.publish({ kty: 'RSA', n: '!', e: 'AQAB', kid: 'broken', use: 'sig' });
      const token = `${unsigned({ alg: 'RS256', kid: 'broken' }, claims())}.x`;
      for (let count = 0; count < 10; count += 1) expect(await send(token)).toBe(401);
      expect(await send(token)).toBe(429);
    });

    it('does not count when it is genuine and expired, so that its client gets 401 and fetches another', async () => {
      for (let count = 0; count < 30; count += 1) {
        expect(await send(await issuer.sign(claims({ exp: seconds(-61) })))).toBe(401);
      }
      const unknown = await startIssuer();
      for (let count = 0; count < 10; count += 1) {
        expect(await send(await unknown.sign(claims({ exp: seconds(-61) })))).toBe(401);
      }
      expect(await send(await unknown.sign(claims({ exp: seconds(-61) })))).toBe(429);
      await unknown.close();
    });

    it('does not count while the keys are unavailable', async () => {
      issuer.mood = 'failing';
      const token = await issuer.sign(claims());
      for (let count = 0; count < 30; count += 1) expect(await send(token)).toBe(503);
    });

    it('is counted by its end, because all tokens of one issuer start alike', async () => {
      const forger = await startIssuer();
      for (let client = 1; client <= 20; client += 1) {
        expect(await send(await forger.sign(claims()), `192.0.2.${client}`)).toBe(401);
      }
      const forged = await forger.sign(claims());
      for (let client = 1; client <= 10; client += 1) expect(await send(forged, `198.51.100.${client}`)).toBe(401);
      expect(await send(forged, '198.51.100.11')).toBe(429);
      await forger.close();
    });
  });
});

describe('the organization of a single sign-on token', () => {
  const orgs = async (claim: string) => {
    await t.close();
    t = await startWith({ KEYFRONT_OIDC_MAPPING: JSON.stringify({ rules: [{ scopes: [], orgClaim: claim }] }) });
  };

  it('is none when no claim is configured', async () => {
    const token = await issuer.sign(claims({ org: 'globex' }));
    for (const org of ['acme', 'globex']) expect((await preview(token, { org_id: org })).status).toBe(200);
  });

  it.each(['org', 'https://keyfront.example/org'])(
    'is the value of the claim %s, and another one is FORBIDDEN',
    async (claim) => {
      await orgs(claim);
      const token = await issuer.sign(claims({ [claim]: 'acme' }));
      expect((await preview(token, { org_id: 'acme' })).status).toBe(200);
      expect((await preview(token)).body['key_id']).toMatch(/^acme/);
      const foreign = await preview(token, { org_id: 'globex' });
      expect([foreign.status, codeOf(foreign)]).toStrictEqual([403, 'FORBIDDEN']);
    },
  );

  it.each<[string, unknown]>([
    ['missing', undefined],
    ['null', null],
    ['empty', ''],
    ['blank', '  '],
    ['a list', ['acme']],
    ['a number', 7],
    ['an object', { id: 'acme' }],
  ])('is required when a claim is configured: rejects a token where it is %s', async (_what, value) => {
    await orgs('org');
    expectRejection(await preview(await issuer.sign(claims(value === undefined ? {} : { org: value }))));
    expect(await reasons()).toStrictEqual(['organization']);
  });

  it.each(['a/b', 'a\u0000b', '\ud800', 'o'.repeat(224)])(
    'rejects a token whose claim cannot start a key identifier: %j',
    async (org) => {
      await orgs('org');
      expectRejection(await preview(await issuer.sign(claims({ org }))));
      expect(await reasons()).toStrictEqual(['organization']);
    },
  );

  it.each(['constructor', '__proto__', 'toString'])('ignores inherited members, such as %s', async (claim) => {
    await orgs(claim);
    expectRejection(await preview(await issuer.sign(claims())));
  });
});

describe('the subject of a single sign-on token', () => {
  const identify = async (sub: string) => {
    const settings = { issuer: issuer.url, audience: 'keyfront', jwksURL: undefined, mapping: previewsOnly };
    const verify = createOIDCVerifier(settings, () => t.clock.now, createLogger('silent'));
    return verify(await issuer.sign(claims({ sub })));
  };

  it.each([
    ['an address', 'ada@example.org'],
    ['255 characters', `${'x'.repeat(253)}\u{1F600}`],
  ])('is the identity and the label of the principal, for %s', async (_, sub) => {
    expect(await identify(sub)).toStrictEqual({
      credentialID: `oidc:${sub}`,
      label: sub,
      client: undefined,
      orgID: undefined,
      scopes: [],
    });
  });

  it.each([
    ['longer than 255 characters, the maximum of OpenID Connect', 'x'.repeat(256)],
    ['that is not well-formed Unicode, which would become that of another person', 'ada\ud800'],
    ['with NUL', 'ada\0'],
  ])('is rejected if it is one %s', async (_, sub) => {
    expect(await identify(sub)).toStrictEqual({ reason: 'subject', isExcused: true });
  });
});

describe('the keys of the single sign-on issuer', () => {
  const minutes = (count: number) => {
    t.clock.now = new Date(t.clock.now.getTime() + count * 60_000);
  };
  const listed = () => issuer.requested.filter((path) => path === '/keys').length;

  it('are fetched on first use, once for any number of tokens', async () => {
    expect(issuer.requested).toStrictEqual([]);
    const token = await issuer.sign(claims());
    await preview(t.management);
    await preview('nonsense');
    expect(issuer.requested).toStrictEqual([]);
    const responses = await Promise.all(Array.from({ length: 20 }, () => preview(token)));
    expect(new Set(responses.map(({ status }) => status))).toStrictEqual(new Set([200]));
    expect(issuer.requested).toStrictEqual(['/.well-known/openid-configuration', '/keys']);
  });

  it('are fetched from KEYFRONT_OIDC_JWKS_URL if it is set', async () => {
    const direct = await startWith({ KEYFRONT_OIDC_JWKS_URL: `${issuer.url}/keys` });
    const headers = { authorization: `Bearer ${await issuer.sign(claims())}` };
    expect((await direct.preview({}, headers)).status).toBe(200);
    expect(issuer.requested).toStrictEqual(['/keys']);
    await direct.close();
  });

  it('are fetched again for an unknown key, but not for each invented key name', async () => {
    expect((await preview(await issuer.sign(claims()))).status).toBe(200);
    await issuer.addKey('second');
    t.clock.now = new Date(t.clock.now.getTime() + 31_000);
    expect((await preview(await issuer.sign(claims(), 'second'))).status).toBe(200);
    expect(listed()).toBe(2);
    for (let count = 0; count < 20; count += 1) {
      expectRejection(await preview(await issuer.sign(claims(), 'first', { kid: `made up ${count}` })));
    }
    expect(listed()).toBe(2);
  });

  it('are refreshed every ten minutes, so that a withdrawn key is rejected', async () => {
    expect((await preview(await issuer.sign(claims()))).status).toBe(200);
    await issuer.addKey('second');
    issuer.removeKey('first');
    minutes(11);
    await preview(await issuer.sign(claims(), 'second'));
    await vi.waitFor(async () => expectRejection(await preview(await issuer.sign(claims()))), { timeout: 100_000 });
    expect((await preview(await issuer.sign(claims(), 'second'))).status).toBe(200);
  });

  it.each(['failing', 'gone'] as const)('stay in use while the issuer is %s, and the log reports it', async (mood) => {
    expect((await preview(await issuer.sign(claims()))).status).toBe(200);
    issuer.mood = mood;
    for (let hour = 0; hour < 5; hour += 1) {
      minutes(60);
      expect((await preview(await issuer.sign(claims()))).status).toBe(200);
    }
    await vi.waitFor(() => expect(t.logs()).toContain('the fetched keys stay in use'), { timeout: 100_000 });
  });

  it.each(['failing', 'gone'] as const)(
    'return UNAVAILABLE (503) for a token of an unknown key while the issuer is %s, because its key may be new',
    async (mood) => {
      expect((await preview(await issuer.sign(claims()))).status).toBe(200);
      await issuer.addKey('second');
      issuer.mood = mood;
      t.clock.now = new Date(t.clock.now.getTime() + 31_000);
      expectUnavailable(await preview(await issuer.sign(claims(), 'second')));
      expect(await reasons()).toStrictEqual(['keys unavailable']);
    },
  );

  it.each(['failing', 'gone'] as const)(
    'return UNAVAILABLE (503) for tokens while the issuer is %s and no keys were fetched',
    async (mood) => {
      issuer.mood = mood;
      const token = await issuer.sign(claims({ exp: seconds(3600) }));
      for (let count = 0; count < 5; count += 1) expectUnavailable(await preview(token));
      const graphql = await t.graphql(
        '{ __typename }',
        {},
        { authorization: `Bearer ${token}`, 'x-svc-authorization': '' },
      );
      expect([graphql.status, codeOf(graphql)]).toEqual([503, 'UNAVAILABLE']);
      expect(new Set(await reasons())).toStrictEqual(new Set(['keys unavailable']));
      expect(t.logs()).toContain('the keys of the single sign-on issuer cannot be fetched');
      // Strangers cannot make us ask an issuer that is down over and over.
      expect(issuer.requested).toHaveLength(1);
      issuer.mood = 'well';
      t.clock.now = new Date(t.clock.now.getTime() + 10_000);
      expect((await preview(token)).status).toBe(200);
    },
  );

  const limits = { timeoutMs: 200, maxBytes: 100_000 };
  it.each<[string, Issuer['mood'], string | undefined]>([
    ['is silent', 'silent', undefined],
    ['sends headers and half of its discovery document', 'stalling', '/.well-known/openid-configuration'],
    ['sends headers and half of its keys', 'stalling', '/keys'],
    ['sends a discovery document without end', 'endless', '/.well-known/openid-configuration'],
    ['sends keys without end', 'endless', '/keys'],
  ])('are abandoned when the issuer %s', async (_what, mood, path) => {
    issuer.mood = mood;
    issuer.moodPath = path;
    for (const jwksURL of path === '/.well-known/openid-configuration'
      ? [undefined]
      : [undefined, `${issuer.url}/keys`]) {
      const find = createSigningKeys(
        { issuer: issuer.url, jwksURL },
        () => t.clock.now,
        createLogger('silent'),
        limits,
      );
      await expect(Promise.resolve(find({ alg: 'ES256' }, { payload: '', signature: '' }))).rejects.toThrow(
        KeysUnavailable,
      );
    }
  });

  it.each<[string, () => Record<string, unknown>]>([
    ['is of another issuer', () => ({ issuer: 'https://evil.example', jwks_uri: `${issuer.url}/keys` })],
    ['names no issuer', () => ({ jwks_uri: `${issuer.url}/keys` })],
    ['names no keys', () => ({ issuer: issuer.url })],
    [
      'names keys that an attacker in the network can replace',
      () => ({ issuer: issuer.url, jwks_uri: `${issuer.url.replace('127.0.0.1', '0.0.0.0')}/keys` }),
    ],
    [
      'names a document that contains no keys',
      () => ({ issuer: issuer.url, jwks_uri: `${issuer.url}/.well-known/openid-configuration` }),
    ],
  ])('are rejected when the discovery document %s', async (_what, discovery) => {
    issuer.discovery = discovery();
    expectUnavailable(await preview(await issuer.sign(claims())));
    expect(await reasons()).toStrictEqual(['keys unavailable']);
  });
});

describe('the settings of single sign-on', () => {
  const https = { KEYFRONT_OIDC_ISSUER: 'https://sso.example/realms/x', KEYFRONT_OIDC_AUDIENCE: 'keyfront' };

  it.each<[Record<string, string>]>([
    [https],
    [{ ...https, KEYFRONT_OIDC_JWKS_URL: 'https://sso.example/keys?v=1' }],
    [{ ...https, KEYFRONT_OIDC_ISSUER: 'http://localhost:8080' }],
    [{ ...https, KEYFRONT_OIDC_ISSUER: 'http://127.0.0.1:8080/' }],
    [{ ...https, KEYFRONT_OIDC_ISSUER: 'http://[::1]:8080' }],
  ])('accept %j', async (env) => {
    await (await startApp(env)).close();
  });

  it.each<[Record<string, string>, RegExp]>([
    [{ KEYFRONT_OIDC_AUDIENCE: 'x' }, /KEYFRONT_OIDC_AUDIENCE: single sign-on requires KEYFRONT_OIDC_ISSUER\./],
    [
      { KEYFRONT_OIDC_MAPPING: '{"rules":[{"role":"viewer"}]}' },
      /KEYFRONT_OIDC_MAPPING: single sign-on requires KEYFRONT_OIDC_ISSUER\./,
    ],
    [{ KEYFRONT_OIDC_JWKS_URL: 'https://x' }, /KEYFRONT_OIDC_JWKS_URL: single sign-on requires KEYFRONT_OIDC_ISSUER/],
    [{ KEYFRONT_OIDC_ISSUER: 'https://sso.example' }, /KEYFRONT_OIDC_ISSUER requires KEYFRONT_OIDC_AUDIENCE\./],
    [{ ...https, KEYFRONT_OIDC_ISSUER: 'http://sso.example' }, /KEYFRONT_OIDC_ISSUER must be an https URL/],
    [{ ...https, KEYFRONT_OIDC_ISSUER: 'http://127.0.0.1.evil.example' }, /KEYFRONT_OIDC_ISSUER must be an https URL/],
    [{ ...https, KEYFRONT_OIDC_ISSUER: 'http://localhost.evil.example' }, /KEYFRONT_OIDC_ISSUER must be an https URL/],
    [{ ...https, KEYFRONT_OIDC_ISSUER: 'sso.example' }, /KEYFRONT_OIDC_ISSUER must be an https URL/],
    [{ ...https, KEYFRONT_OIDC_ISSUER: 'https://user:pass@sso.example' }, /KEYFRONT_OIDC_ISSUER must be an https URL/],
    [
      { ...https, KEYFRONT_OIDC_ISSUER: 'https://sso.example/?x=1' },
      /KEYFRONT_OIDC_ISSUER must be .*, without a query/,
    ],
    [{ ...https, KEYFRONT_OIDC_ISSUER: '' }, /KEYFRONT_OIDC_ISSUER must be an https URL/],
    [
      { ...https, KEYFRONT_OIDC_SIGN_ON_PARAMETERS: 'audience=x' },
      /KEYFRONT_OIDC_SIGN_ON_PARAMETERS requires KEYFRONT_OIDC_CLIENT_ID\./,
    ],
    [
      { ...https, KEYFRONT_OIDC_CLIENT_ID: 'x', KEYFRONT_OIDC_SIGN_ON_PARAMETERS: 'state=1' },
      /KEYFRONT_OIDC_SIGN_ON_PARAMETERS must not contain client_id, /,
    ],
    [
      { ...https, KEYFRONT_OIDC_CLIENT_ID: 'x', KEYFRONT_OIDC_SIGN_ON_PARAMETERS: 'scope=profile' },
      /KEYFRONT_OIDC_SIGN_ON_PARAMETERS must have openid among the words of scope\./,
    ],
    [{ ...https, KEYFRONT_OIDC_CLIENT_ID: ' ' }, /KEYFRONT_OIDC_CLIENT_ID must not be empty\./],
    [{ ...https, KEYFRONT_OIDC_JWKS_URL: 'http://sso.example/keys' }, /KEYFRONT_OIDC_JWKS_URL must be an https URL/],
    [{ ...https, KEYFRONT_OIDC_JWKS_URL: 'file:///etc/passwd' }, /KEYFRONT_OIDC_JWKS_URL must be an https URL/],
    [{ ...https, KEYFRONT_OIDC_AUDIENCE: ' ' }, /KEYFRONT_OIDC_AUDIENCE must not be empty\./],
    [{ ...https, KEYFRONT_OIDC_ISSUER: 'https://a.example,https://b.example' }, /KEYFRONT_OIDC_ISSUER must be/],
    [
      { ...https, KEYFRONT_OIDC_ISUER: 'x' },
      /KEYFRONT_OIDC_ISUER is not a setting; did you mean KEYFRONT_OIDC_ISSUER\?/,
    ],
  ])('reject %j at start and name the right setting', async (env, words) => {
    await expect(startApp(env)).rejects.toThrow(words);
  });
});
