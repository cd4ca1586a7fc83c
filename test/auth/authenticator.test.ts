import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createToken } from '../../src/auth/token.js';
import type { CredentialKind } from '../../src/credential.js';
import { startApp, type Answer, type TestApp } from '../support/app.js';
import { stateOf } from '../support/state.js';

let t: TestApp;
beforeEach(async () => {
  t = await startApp();
  await t.importKeys({ key_id: 'k1', org_id: 'acme' });
});
afterEach(async () => t.close());

/** Headers are pairs, so that one may come twice. */
type Credentials = [string, string][];
type Send = (credentials: Credentials) => Promise<Answer>;

const json: [string, string] = ['content-type', 'application/json'];
const graphql =
  (query: string): Send =>
  (credentials) =>
    t.send('/graphql', { method: 'POST', headers: [json, ...credentials], body: JSON.stringify({ query }) });

const operations: [string, CredentialKind, Send][] = [
  [
    'REST preview',
    'management',
    (credentials) => t.send('/api/keys/preview', { method: 'POST', headers: [json, ...credentials], body: '{}' }),
  ],
  [
    'REST update',
    'service',
    (credentials) => t.send('/svc/org/keys/k1', { method: 'PUT', headers: [json, ...credentials], body: '{}' }),
  ],
  ['GraphQL previewKey', 'management', graphql('{ previewKey(input: {}) { keyID } }')],
  ['GraphQL updateOrgKey', 'service', graphql('mutation { updateOrgKey(keyID: "k1", input: {}) { status } }')],
];

const names: Record<CredentialKind, string> = { management: 'authorization', service: 'x-svc-authorization' };
const value = (kind: CredentialKind, token: string) => (kind === 'management' ? `Bearer ${token}` : token);
const other = (kind: CredentialKind): CredentialKind => (kind === 'management' ? 'service' : 'management');
const valid = (kind: CredentialKind): [string, string] => [names[kind], value(kind, t[kind])];

/** Credentials that open nothing, made for an operation of the given kind. */
const bad: Record<string, (kind: CredentialKind) => Promise<Credentials> | Credentials> = {
  'no header': () => [],
  'an empty header': (kind) => [[names[kind], '']],
  'a header of spaces': (kind) => [[names[kind], '   ']],
  'the other kind in this header': (kind) => [[names[kind], value(kind, t[other(kind)])]],
  'the other kind in its own header': (kind) => [valid(other(kind))],
  'this kind in the other header': (kind) => [[names[other(kind)], value(other(kind), t[kind])]],
  'this kind in the other header, written as for this one': (kind) => [[names[other(kind)], value(kind, t[kind])]],
  'both kinds in exchanged headers': (kind) => [
    [names[kind], value(kind, t[other(kind)])],
    [names[other(kind)], value(other(kind), t[kind])],
  ],
  'a wrong one beside a valid one of the other kind': (kind) => [
    [names[kind], value(kind, createToken(kind))],
    valid(other(kind)),
  ],
  'the header twice, both valid': (kind) => [valid(kind), valid(kind)],
  'the header twice, the first valid': (kind) => [valid(kind), [names[kind], 'x']],
  'the header twice, the second valid': (kind) => [[names[kind], 'x'], valid(kind)],
  'two tokens in a list': (kind) => [[names[kind], `${value(kind, t[kind])},${value(kind, t[kind])}`]],
  'an unknown token': (kind) => [[names[kind], value(kind, createToken(kind))]],
  'a token with its last character changed': (kind) => [
    [names[kind], value(kind, t[kind].slice(0, -1) + (t[kind].endsWith('a') ? 'b' : 'a'))],
  ],
  'half a token': (kind) => [[names[kind], value(kind, t[kind].slice(0, 20))]],
  'a token and more': (kind) => [[names[kind], `${value(kind, t[kind])} x`]],
  'a token in lower case': (kind) => [[names[kind], value(kind, t[kind].toLowerCase())]],
  'a token in quotes': (kind) => [[names[kind], value(kind, `"${t[kind]}"`)]],
  'a token with padding': (kind) => [[names[kind], value(kind, `${t[kind]}=`)]],
  'a token after two spaces': (kind) => [[names[kind], `Bearer  ${t[kind]}`]],
  'a token after a tab': (kind) => [[names[kind], `Bearer\t${t[kind]}`]],
  'another scheme': (kind) => [[names[kind], `Basic ${t[kind]}`]],
  'no scheme where one belongs, and one where none does': (kind) => [[names[kind], value(other(kind), t[kind])]],
  'the scheme alone': (kind) => [[names[kind], 'Bearer']],
  'basic authentication': (kind) => [[names[kind], `Basic ${Buffer.from(`user:${t[kind]}`).toString('base64')}`]],
  'an over-long token': (kind) => [[names[kind], value(kind, t[kind] + 'x'.repeat(100_000))]],
  'bytes beyond ASCII': (kind) => [[names[kind], value(kind, `${t[kind]}\u00e9`)]],
  'an expired token': async (kind) => {
    const { secret } = await t.issue(kind, { expires: new Date(t.clock.now.getTime()) });
    return [[names[kind], value(kind, secret)]];
  },
  'a revoked token': async (kind) => {
    const { id, secret } = await t.issue(kind);
    await t.app.installation.credentials.revoke(id, t.clock.now);
    return [[names[kind], value(kind, secret)]];
  },
  'the id of a credential': async (kind) => [[names[kind], value(kind, (await t.issue(kind)).id)]],
};

const withoutRequestID = ({ text }: Answer) => text.replace(/"request_?ID":"[^"]*"/i, '"request":""');
const opened = ({ status, body }: Answer) => status === 200 && !('errors' in body);

describe.each(operations)('%s', (name, kind, send) => {
  it.each(Object.entries(bad))('is refused with the one message for %s', async (_what, make) => {
    const before = await stateOf(t, 'k1');
    const answer = await send(await make(kind));
    const bare = await send([]);
    expect(withoutRequestID(answer)).toBe(withoutRequestID(bare));
    expect(answer.status).toBe(bare.status);
    expect([...answer.headers.keys()]).toStrictEqual([...bare.headers.keys()]);
    if (name.startsWith('REST')) {
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="keyfront"/);
      expect(answer.body).toStrictEqual({
        status: 'error',
        message: 'A valid credential is required.',
        code: 'UNAUTHENTICATED',
        request_id: answer.headers.get('x-request-id'),
      });
    } else {
      expect(answer.body['errors']).toMatchObject([
        { message: 'A valid credential is required.', extensions: { code: 'UNAUTHENTICATED' } },
      ]);
    }
    expect(await stateOf(t, 'k1')).toStrictEqual(before);
  });

  it('opens for its own credential, whatever the other header says', async () => {
    const others: Credentials[] = [
      [],
      [valid(other(kind))],
      [[names[other(kind)], 'nonsense']],
      [[names[other(kind)], '']],
    ];
    for (const more of others) expect(opened(await send([valid(kind), ...more]))).toBe(true);
  });

  it('takes white space round the header, which HTTP does not count', async () => {
    expect(opened(await send([[names[kind], `  ${value(kind, t[kind])}\t`]]))).toBe(true);
  });

  it('opens until the moment a credential expires, and not at it', async () => {
    const expires = new Date(t.clock.now.getTime() + 1000);
    const { secret } = await t.issue(kind, { expires });
    const credentials: Credentials = [[names[kind], value(kind, secret)]];
    t.clock.now = new Date(expires.getTime() - 1);
    expect(opened(await send(credentials))).toBe(true);
    t.clock.now = expires;
    expect(opened(await send(credentials))).toBe(false);
  });

  it('closes at once when its credential is revoked', async () => {
    const { id, secret } = await t.issue(kind);
    const credentials: Credentials = [[names[kind], value(kind, secret)]];
    expect(opened(await send(credentials))).toBe(true);
    await t.app.installation.credentials.revoke(id, t.clock.now);
    expect(opened(await send(credentials))).toBe(false);
  });
});

describe('the scheme', () => {
  it.each(['bearer', 'BEARER', 'BeArEr'])('may be written %s', async (scheme) => {
    for (const [, kind, send] of operations) {
      if (kind === 'management')
        expect(opened(await send([['authorization', `${scheme} ${t.management}`]]))).toBe(true);
    }
  });
});

describe('one request', () => {
  it('may ask for both kinds, and each operation looks at its own credential', async () => {
    const send = (credentials: Credentials) => graphql('{ previewKey(input: {}) { keyID } }')(credentials);
    expect(opened(await send([valid('management'), valid('service')]))).toBe(true);
    expect(opened(await send([valid('service')]))).toBe(false);
  });
});

describe('the log', () => {
  it('holds no credential, valid or not', async () => {
    for (const [, kind, send] of operations) {
      for (const make of Object.values(bad)) await send(await make(kind));
      await send([valid(kind)]);
    }
    for (const secret of [t.management, t.service, 'kf_mgt_', 'kf_svc_']) expect(t.logs()).not.toContain(secret);
  });
});
