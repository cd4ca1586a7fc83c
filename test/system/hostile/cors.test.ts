import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestResponse, type TestApp } from '../../support/app.js';
import { makeCommandLine } from '../../support/cli.js';

const dashboard = 'https://dash.example.com';
const other = 'http://localhost:3000';

let open: TestApp;
let closed: TestApp;
beforeAll(async () => {
  open = await startApp({ KEYFRONT_CORS_ORIGINS: `${dashboard}, ${other}` });
  closed = await startApp();
});
afterAll(async () => {
  await open.close();
  await closed.close();
});

const corsOf = ({ headers }: TestResponse) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));

const preflight = (t: TestApp, origin: string, path = '/graphql') =>
  t.send(path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  });

const otherOrigins = [
  'null',
  '*',
  'https://dash.example.com.evil.test',
  'https://evil-dash.example.com',
  'https://evildash.example.com',
  'https://sub.dash.example.com',
  'https://example.com',
  'http://dash.example.com',
  'https://dash.example.com:8443',
  'https://dash.example.com:443',
  'https://dash.example.com/',
  'https://DASH.example.com',
  'https://dash.example.com@evil.test',
  'https://dash.example.com, https://evil.test',
  'http://localhost:30000',
  'http://localhost',
  'https://dash.example.com%00.evil.test',
];

describe('a page of another origin', () => {
  it.each([dashboard, other])('T-10 is allowed to send requests and read responses, such as %s', async (origin) => {
    const requested = await preflight(open, origin);
    expect(requested.status).toBe(204);
    expect(requested.text).toBe('');
    expect(corsOf(requested)).toEqual({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers':
        'Authorization, X-Svc-Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Apollo-Require-Preflight, X-Keyfront-Actor, X-GraphQL-Yoga-CSRF, Traceparent, Tracestate, apollographql-client-name, graphql-client-name, x-graphql-client-name',
      'access-control-expose-headers': 'ETag, Retry-After, X-Request-ID',
      'access-control-max-age': '600',
    });
    const responses = [
      await open.graphql('{ __typename }', {}, { origin }),
      await open.preview({}, { origin, cookie: 'a=b' }),
      await open.preview({}, { origin, authorization: '' }),
      await open.send('/nowhere', { headers: { origin } }),
      await open.send('/health', { headers: { origin } }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 401, 404, 200]);
    for (const response of responses) {
      // Neither a wildcard nor credentials of the browser.
      expect(response.headers.get('set-cookie')).toBeNull();
      expect(corsOf(response)).toEqual({
        'access-control-allow-origin': origin,
        'access-control-expose-headers': 'ETag, Retry-After, X-Request-ID',
      });
    }
  });

  it.each(otherOrigins)('T-10 receives no CORS headers if it is not allowed: %s', async (origin) => {
    const requested = await preflight(open, origin);
    expect([requested.status, corsOf(requested)]).toEqual([405, {}]);
    // The service responds to the request as usual; the browser withholds the response from the page.
    const response = await open.graphql('{ __typename }', {}, { origin });
    expect([response.status, corsOf(response)]).toEqual([200, {}]);
  });

  it.each([dashboard, ...otherOrigins])('receives no CORS headers by default: %s', async (origin) => {
    for (const path of ['/graphql', '/api/keys/preview', '/svc/org/keys/k1', '/health']) {
      const requested = await preflight(closed, origin, path);
      expect([requested.status, corsOf(requested)]).toEqual([405, {}]);
    }
    const response = await closed.preview({}, { origin });
    expect([response.status, corsOf(response), response.headers.get('vary')]).toEqual([200, {}, null]);
  });

  it('makes no cache return the response for one origin to another', async () => {
    for (const origin of [dashboard, other, 'https://evil.test']) {
      expect((await open.preview({}, { origin })).headers.get('vary')).toBe('Origin');
    }
    expect((await open.preview({})).headers.get('vary')).toBe('Origin');
    const page = await open.send('/', { headers: { origin: dashboard } });
    expect(page.headers.get('vary')?.toLowerCase()).toBe('accept-encoding, origin');
  });

  it('receives the usual response to OPTIONS that is no preflight request', async () => {
    const response = await open.send('/graphql', { method: 'OPTIONS', headers: { origin: dashboard } });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST']);
  });
});

describe('a form on another page', () => {
  const query = '{"query":"mutation { updateOrgKey(keyID: \\"k1\\", input: {}) { status } }"}';
  it.each([
    [
      'application/x-www-form-urlencoded',
      `query=${encodeURIComponent('mutation { updateOrgKey(keyID: "k1", input: {}) { status } }')}`,
    ],
    [
      'multipart/form-data; boundary=x',
      `--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n${query}\r\n--x--\r\n`,
    ],
    ['text/plain', query],
  ])('G-13 can send %s without a preflight, and is rejected even with a credential', async (type, body) => {
    await open.importKeys({ key_id: 'k1', org_id: 'acme' });
    for (const [path, method] of [
      ['/graphql', 'POST'],
      ['/api/keys/preview', 'POST'],
      ['/svc/org/keys/k2', 'POST'],
      ['/svc/org/keys/k1/quota', 'POST'],
      ['/svc/keys/verify', 'POST'],
    ] as const) {
      const { status } = await open.send(path, {
        method,
        headers: {
          'content-type': type,
          origin: dashboard,
          authorization: `Bearer ${open.management}`,
          'x-svc-authorization': open.service,
        },
        body,
      });
      expect(`${path} ${status}`).toBe(`${path} 415`);
    }
    expect(
      (await open.send('/svc/org/keys/k1', { headers: { 'x-svc-authorization': open.service } })).body['version'],
    ).toBe(1);
  });
});

describe('KEYFRONT_CORS_ORIGINS', () => {
  it.each([
    '',
    ' ',
    '*',
    'null',
    'dash.example.com',
    'https://dash.example.com/',
    'https://dash.example.com/x',
    'https://*.example.com',
    'https://dash.example.com:443',
    'https://Dash.example.com',
    'https://user@dash.example.com',
    'file:///x',
    'ftp://dash.example.com',
    'https://dash.example.com,',
    'https://dash.example.com;https://other.example.com',
    'https://dash.example.com https://other.example.com',
    'https://dash.example.com,*',
    'https://münchen.example',
  ])('rejects %j at start', async (origins) => {
    const c = await makeCommandLine();
    const { code, stderr } = await c.keyfront(['credentials', 'list'], { KEYFRONT_CORS_ORIGINS: origins });
    expect(code).toBe(1);
    expect(stderr).toContain('KEYFRONT_CORS_ORIGINS must be origins as a browser writes them');
    await c.remove();
  });
});
