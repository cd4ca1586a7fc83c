import { beforeEach, describe, expect, it } from 'vitest';
import { createAttemptLimiter } from '../../../src/credentials/attempt-limiter.js';
import { createToken } from '../../../src/credentials/token.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { startOwnServer } from '../../support/server.js';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
  await t.importKeys({ key_id: 'k1', org_id: 'acme' });
});

interface Seen {
  readonly status: number;
  readonly code: unknown;
  readonly retryAfter: string | null;
  readonly body: Record<string, unknown>;
}

/** Sends a request as if it came from the address. */
async function from(app: TestApp, address: string | undefined, path: string, init: RequestInit): Promise<Seen> {
  const response = await app.app.fetch(new Request(`http://keyfront.test${path}`, init), address);
  const body = (await response.json()) as Record<string, unknown>;
  const [error] = (body['errors'] ?? []) as { extensions: { code: string } }[];
  return {
    status: response.status,
    code: error?.extensions.code ?? body['code'],
    retryAfter: response.headers.get('retry-after'),
    body,
  };
}

const json = { 'content-type': 'application/json' };
const invalid = () => `Bearer ${createToken('management')}`;
const preview = (address: string | undefined, authorization: string, more: Record<string, string> = {}) =>
  from(t, address, '/api/keys/preview', { method: 'POST', headers: { ...json, authorization, ...more }, body: '{}' });
const graphql = (address: string, query: string, headers: Record<string, string>, accept = 'application/json') =>
  from(t, address, '/graphql', {
    method: 'POST',
    headers: { ...json, accept, ...headers },
    body: JSON.stringify({ query }),
  });

/** Fails ten times, which are not yet too many. */
async function exhaust(address: string): Promise<void> {
  for (let count = 0; count < 10; count += 1) expect((await preview(address, invalid())).status).toBe(401);
}

const later = (seconds: number) => {
  t.clock.now = new Date(t.clock.now.getTime() + seconds * 1000);
};

describe('invalid credentials from one address', () => {
  it('A-07 returns 401 ten times in a minute, and then RATE_LIMITED with the seconds until the next attempt', async () => {
    await preview('192.0.2.1', invalid());
    later(20);
    for (let count = 0; count < 9; count += 1) expect((await preview('192.0.2.1', invalid())).status).toBe(401);
    const { status, code, retryAfter, body } = await preview('192.0.2.1', invalid());
    expect([status, code, retryAfter]).toStrictEqual([429, 'RATE_LIMITED', '40']);
    expect(body).toStrictEqual({
      status: 'error',
      message: 'Too many attempts with invalid credentials.',
      code: 'RATE_LIMITED',
      retry_after_seconds: 40,
      request_id: expect.any(String),
    });
    later(39);
    expect((await preview('192.0.2.1', invalid())).retryAfter).toBe('1');
    later(1);
    expect((await preview('192.0.2.1', invalid())).status).toBe(401);
    expect((await preview('192.0.2.1', invalid())).retryAfter).toBe('20');
  });

  it('returns one response above the limit for unknown, revoked, expired and malformed credentials and those of the other kind', async () => {
    const { id, secret: revoked } = await t.issue('management');
    await t.app.services.credentials.revoke(id, t.clock.now);
    const { secret: expired } = await t.issue('management', { expires: t.clock.now });
    await exhaust('192.0.2.1');
    const responses = await Promise.all(
      [createToken('management'), revoked, expired, 'kf_mgt_nonsense', t.service].map((token) =>
        preview('192.0.2.1', `Bearer ${token}`),
      ),
    );
    const seen = responses.map(({ status, retryAfter, body }) => JSON.stringify([status, retryAfter, body['message']]));
    expect(new Set(seen).size).toBe(1);
    expect(responses[0]?.status).toBe(429);
  });

  it('A-07 accepts a valid credential and a request without one from the same address', async () => {
    await exhaust('192.0.2.1');
    expect((await preview('192.0.2.1', invalid())).status).toBe(429);
    expect((await preview('192.0.2.1', `Bearer ${t.management}`)).status).toBe(200);
    const anonymous = await from(t, '192.0.2.1', '/api/keys/preview', { method: 'POST', headers: json, body: '{}' });
    expect([anonymous.status, anonymous.code]).toStrictEqual([401, 'UNAUTHENTICATED']);
    expect((await preview('192.0.2.2', invalid())).status).toBe(401);
  });

  it('counts both kinds of credential in both APIs together', async () => {
    for (let count = 0; count < 4; count += 1) await preview('192.0.2.1', invalid());
    for (let count = 0; count < 3; count += 1) {
      await from(t, '192.0.2.1', '/svc/org/keys/k1', { headers: { 'x-svc-authorization': createToken('service') } });
      await graphql('192.0.2.1', '{ orgKey(by: { keyID: "k1" }) { version } }', {
        'x-svc-authorization': createToken('service'),
      });
    }
    expect((await preview('192.0.2.1', invalid())).status).toBe(429);
  });

  it('does not count requests without a credential', async () => {
    for (let count = 0; count < 30; count += 1) {
      await from(t, '192.0.2.1', '/api/keys/preview', { method: 'POST', headers: json, body: '{}' });
      await graphql('192.0.2.1', '{ previewKey(input: {}) { keyID } }', { authorization: '' });
    }
    expect((await preview('192.0.2.1', invalid())).status).toBe(401);
  });
});

describe('invalid credentials in one request', () => {
  it.each<[string, string]>([
    [
      'many aliases',
      `{ ${Array.from({ length: 12 }, (_, index) => `a${index}: previewKey(input: {}) { keyID }`).join(' ')} }`,
    ],
    ['an operation that GraphQL rejects', '{ previewKey(input: {nonsense: 1}) { keyID } }'],
    ['a value that GraphQL rejects', '{ previewKey(input: {rate: "x"}) { keyID } }'],
    ['a variable that GraphQL misses', 'query ($i: PreviewKeyInput!) { previewKey(input: $i) { keyID } }'],
    ['an operation that cannot be parsed', '{ previewKey('],
  ])('counts once with %s', async (_what, query) => {
    for (let count = 0; count < 10; count += 1) {
      expect((await graphql('192.0.2.1', query, { authorization: invalid() })).code).not.toBe('RATE_LIMITED');
    }
    expect((await preview('192.0.2.1', invalid())).status).toBe(429);
  });

  it('counts once for each header', async () => {
    const both = () => ({ authorization: invalid(), 'x-svc-authorization': createToken('service') });
    for (let count = 0; count < 5; count += 1) await graphql('192.0.2.1', '{ __typename }', both());
    expect((await preview('192.0.2.1', invalid())).status).toBe(429);
  });
});

describe('too many invalid credentials in GraphQL', () => {
  const previewing = '{ previewKey(input: {}) { keyID } }';

  // Apollo's gateway replaces the body of any response other than 200 by INTERNAL_SERVER_ERROR.
  it.each([
    ['application/json', 200],
    ['application/graphql-response+json', 429],
  ])(
    'rejects the whole request as RATE_LIMITED for a client of %s, with the status %i',
    async (accept, expectedStatus) => {
      await exhaust('192.0.2.1');
      for (const query of [previewing, '{ __typename }', '{ previewKey(input: {nonsense: 1}) { keyID } }']) {
        const { status, retryAfter, body } = await graphql('192.0.2.1', query, { authorization: invalid() }, accept);
        expect([status, retryAfter]).toStrictEqual([expectedStatus, '60']);
        expect(body).toStrictEqual({
          errors: [
            {
              message: 'Too many attempts with invalid credentials.',
              extensions: { code: 'RATE_LIMITED', retryAfterSeconds: 60, requestID: expect.any(String) },
            },
          ],
        });
      }
    },
  );

  it('rejects only the fields that need them beside a valid credential of the other kind', async () => {
    await exhaust('192.0.2.1');
    const headers = { authorization: invalid(), 'x-svc-authorization': t.service };
    const found = await graphql('192.0.2.1', '{ orgKey(by: { keyID: "k1" }) { version } }', headers);
    expect(found.body).toStrictEqual({ data: { orgKey: { version: 1 } } });
    const { status, code } = await graphql('192.0.2.1', previewing, headers);
    expect([status, code]).toStrictEqual([200, 'RATE_LIMITED']);
  });
});

describe('invalid credentials with the same prefix', () => {
  it('counts them together from all addresses, and accepts a valid credential with that prefix', async () => {
    const stem = t.management.slice(0, 20);
    const guess = (index: number) => preview(`198.51.100.${index}`, `Bearer ${stem}${String(index).padStart(25, '0')}`);
    for (let index = 0; index < 10; index += 1) expect((await guess(index)).status).toBe(401);
    expect((await guess(10)).status).toBe(429);
    expect((await preview('198.51.100.99', invalid())).status).toBe(401);
    expect((await preview('198.51.100.99', `Bearer ${t.management}`)).status).toBe(200);
  });
});

describe('the client address of failed attempts', () => {
  it('A-07 ignores X-Forwarded-For unless proxies are trusted', async () => {
    for (let count = 0; count < 10; count += 1) {
      await preview('192.0.2.1', invalid(), { 'x-forwarded-for': `203.0.113.${count}` });
    }
    expect((await preview('192.0.2.1', invalid(), { 'x-forwarded-for': '203.0.113.99' })).status).toBe(429);
  });

  it('takes the address that the trusted proxy added, and ignores the entries before it', async () => {
    const behind = await startOwnApp({ KEYFRONT_TRUSTED_PROXIES: '1' });
    const sendQuery = (forwarded: string) =>
      from(behind, '10.0.0.1', '/api/keys/preview', {
        method: 'POST',
        headers: { ...json, authorization: invalid(), 'x-forwarded-for': forwarded },
        body: '{}',
      });
    for (let count = 0; count < 10; count += 1) await sendQuery(`203.0.113.${count}, 198.51.100.7`);
    expect((await sendQuery('203.0.113.99, 198.51.100.7')).status).toBe(429);
    expect((await sendQuery('198.51.100.7, 203.0.113.99')).status).toBe(401);
  });

  it('takes the address of the socket on a real server', async () => {
    const server = await startOwnServer();
    ({ t } = server);
    const post = async (path: string, body: object) => {
      const headers = { ...json, accept: 'application/graphql-response+json', authorization: invalid() };
      return (await fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).status;
    };
    // Rejected by GraphQL after the credentials were looked at, so that they are looked at twice.
    const incomplete = { query: 'query ($i: PreviewKeyInput!) { previewKey(input: $i) { keyID } }' };
    for (let count = 0; count < 5; count += 1) {
      expect(await post('/api/keys/preview', {})).toBe(401);
      expect(await post('/graphql', incomplete)).toBe(401);
    }
    expect([await post('/api/keys/preview', {}), await post('/graphql', incomplete)]).toStrictEqual([429, 429]);
    expect((await preview('127.0.0.1', invalid())).status).toBe(429);
  });
});

describe('the attempt limiter', () => {
  it('counts IPv6 clients by the first 64 bits of their address, in any notation', () => {
    const failures = createAttemptLimiter(() => t.clock.now);
    const count = (address: string) => failures.count(address, createToken('service'));
    for (let host = 1; host <= 10; host += 1) expect(count(`2001:db8:0:1::${host.toString(16)}`)).toBeUndefined();
    for (const same of ['2001:db8:0:1::ffff', '2001:0DB8:0000:0001:1:2:3:4', '2001:db8:0:1:ffff:ffff:ffff:ffff%eth0'])
      expect(`${same} ${count(same)}`).toBe(`${same} 60`);
    for (const another of ['2001:db8:0:2::1', '2001:db8::1', '::1', 'fe80::1%eth0'])
      expect(`${another} ${count(another)}`).toBe(`${another} undefined`);
  });

  it('keeps a bounded number of clients and evicts the least recently active ones', () => {
    const failures = createAttemptLimiter(() => t.clock.now);
    const count = (address: string) => failures.count(address, createToken('service'));
    for (let index = 0; index < 10; index += 1) count('192.0.2.1');
    for (let index = 0; index < 10; index += 1) count('192.0.2.2');
    for (let index = 0; index < 9_998; index += 1) count(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`);
    expect(count('192.0.2.1')).toBe(60);
    expect(count('203.0.113.1')).toBeUndefined();
    // The one more that there was no room for has taken the place of the second.
    expect(count('192.0.2.1')).toBe(60);
    expect(count('192.0.2.2')).toBeUndefined();
  });

  it('blocks no client for longer when the clock is set back', () => {
    let now = new Date('2026-01-31T12:00:00Z');
    const failures = createAttemptLimiter(() => now);
    for (let index = 0; index < 10; index += 1) failures.count('192.0.2.1', createToken('service'));
    now = new Date('2026-01-31T11:00:00Z');
    expect(failures.count('192.0.2.1', createToken('service'))).toBeUndefined();
  });
});
