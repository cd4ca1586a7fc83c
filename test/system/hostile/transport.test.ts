import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultTimeouts } from '../../../src/http/server/server.js';
import { exchange, startServer, type TestServer, type WireResponse } from '../../support/server.js';
import { timersDueWithin } from '../../support/until.js';

let s: TestServer;
beforeAll(async () => {
  s = await startServer();
  await s.t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'before' });
});
afterAll(async () => s.close());

const host = 'Host: keyfront.test\r\n';
const json = 'Content-Type: application/json\r\n';
const last = 'Connection: close\r\n';
const chunked = 'Transfer-Encoding: chunked\r\n';
/** The request lines of two requests with a host, to which headers and a body are added. */
const post = `POST /graphql HTTP/1.1\r\n${host}`;
const get = `GET /health HTTP/1.1\r\n${host}`;
const send = (bytes: string | Buffer, limitMs?: number) => exchange(s.port, bytes, limitMs);

/** A request in full: what a good client would send, but for what is given. */
function request(target: string, { method = 'GET', headers = '', body = '', version = '1.1' } = {}): string {
  const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${target} HTTP/${version}\r\n${host}${last}${headers}${length}\r\n${body}`;
}

/** The headers of both credentials. */
const both = () => `X-Svc-Authorization: ${s.t.service}\r\nAuthorization: Bearer ${s.t.management}\r\n`;

const preview = (body: string, headers = both() + json) =>
  request('/api/keys/preview', { method: 'POST', headers, body });
const graphql = (body: string, headers = both() + json) => request('/graphql', { method: 'POST', headers, body });

const update = (alias: string) =>
  `PUT /svc/org/keys/k1 HTTP/1.1\r\n${host}X-Svc-Authorization: ${s.t.service}\r\n${json}Content-Length: ${
    Buffer.byteLength(alias) + 12
  }\r\n\r\n{"alias":"${alias}"}`;

async function versionOfKey(): Promise<unknown> {
  return (await s.t.app.services.store.find(s.t.app.services.ports.hashKeyID('k1')))?.version;
}

/** The headers that every response has. */
function expectGuarded({ status, headers, body }: WireResponse): void {
  const isPage = status === 304 || headers.has('content-security-policy');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('cache-control')).toBe(isPage ? 'private, no-cache' : 'no-store');
  for (const name of ['server', 'x-powered-by', 'access-control-allow-origin', 'vary']) {
    if (name !== 'vary' || !isPage) expect([name, headers.get(name)]).toEqual([name, undefined]);
  }
  if (body !== '')
    expect(headers.get('content-type')).toMatch(/^(application\/json|text\/plain|text\/html); charset=utf-8$/);
}

describe('T-04 T-05 an ambiguous request is rejected:', () => {
  it.each<[string, string]>([
    ['a length and chunks', `${post}Content-Length: 5\r\n${chunked}\r\n0\r\n\r\n`],
    ['chunks and a length', `${post}${chunked}Content-Length: 5\r\n\r\n0\r\n\r\n`],
    ['two lengths', `${post}Content-Length: 5\r\nContent-Length: 6\r\n\r\n12345`],
    ['one length twice', `${post}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`],
    ['a list of lengths', `${post}Content-Length: 2, 2\r\n\r\n{}`],
    ['a length with a sign', `${post}Content-Length: +2\r\n\r\n{}`],
    ['a negative length', `${post}Content-Length: -2\r\n\r\n{}`],
    ['a length in hexadecimal', `${post}Content-Length: 0x2\r\n\r\n{}`],
    ['a coding like chunked', `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['chunked before another coding', `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    ['chunked after another coding', `${post}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['two codings', `${post}${chunked}Transfer-Encoding: identity\r\n\r\n0\r\n\r\n`],
    ['chunked twice', `${post}${chunked}${chunked}\r\n0\r\n\r\n`],
    ['chunks in HTTP 1.0', `POST /graphql HTTP/1.0\r\n${host}${chunked}\r\n0\r\n\r\n`],
    ['a chunk of negative size', `${post}${json}${chunked}\r\n-2\r\n{}\r\n0\r\n\r\n`],
    ['a chunk beyond 64 bits', `${post}${json}${chunked}\r\nfffffffffffffffff\r\n{}\r\n0\r\n\r\n`],
    ['chunks without a carriage return', `${post}${json}${chunked}\r\n2\n{}\n0\n\n`],
    ['a folded header', `${get}X-A: a\r\n b\r\n\r\n`],
    ['a space before the colon', `${get}X-A : a\r\n\r\n`],
    ['a header without a name', `${get}: a\r\n\r\n`],
    ['a bare line feed after the request line', `GET /health HTTP/1.1\n${host}\r\n`],
    ['a bare line feed after a header', `GET /health HTTP/1.1\r\nHost: x\nX-A: a\r\n\r\n`],
    ['a bare carriage return in a header', `${get}X-A: a\rb\r\n\r\n`],
    ['NUL in a header', `${get}X-A: a\0b\r\n\r\n`],
    ['NUL in the name of a header', `${get}X\0A: b\r\n\r\n`],
    ['NUL in the target', `GET /hea\0lth HTTP/1.1\r\n${host}\r\n`],
    ['a byte beyond ASCII in the target', `GET /\xe9 HTTP/1.1\r\n${host}\r\n`],
    ['two hosts', `${get}Host: other.test\r\n\r\n`],
    ['one host twice', `${get}${host}\r\n`],
    ['no host', 'GET /health HTTP/1.1\r\n\r\n'],
    ['a host that is none', 'GET /health HTTP/1.1\r\nHost: a b\r\n\r\n'],
    ['a host with a path', 'GET /health HTTP/1.1\r\nHost: keyfront.test/x\r\n\r\n'],
    ['a host with a user', 'GET /health HTTP/1.1\r\nHost: x@keyfront.test\r\n\r\n'],
    ['two content types', `${post}${json}Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}`],
    ['an absolute target', `GET http://keyfront.test/health HTTP/1.1\r\n${host}\r\n`],
    ['a target that is a star', `OPTIONS * HTTP/1.1\r\n${host}\r\n`],
    ['a fragment', `GET /health#x HTTP/1.1\r\n${host}\r\n`],
    ['a method that HTTP does not have', `BREW /health HTTP/1.1\r\n${host}\r\n`],
    ['a method in lower case', `get /health HTTP/1.1\r\n${host}\r\n`],
    ['the beginning of HTTP 2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['the beginning of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['no HTTP at all', 'hello\r\n\r\n'],
  ])('%s', async (_what, bytes) => {
    const response = await send(bytes);
    expect(response.status).toBe(400);
    expect(response.isClosed).toBe(true);
    expect(JSON.parse(response.body)).toEqual({ status: 'error', code: 'INVALID', message: expect.any(String) });
    expectGuarded(response);
  });

  it.each([
    '/svc/org/keys/%2e%2e',
    '/svc/org/keys/%2E%2e/keys/k1',
    '/svc/org/keys/.%2e',
    '/svc/org/keys/../keys/k1',
    '/svc/./org/keys/k1',
    '/svc/%2e/org/keys/k1',
    '//svc/org/keys/k1',
    '/svc//org/keys/k1',
    '/svc/org/keys//k1',
    '/svc/org/keys\\k1',
    'svc/org/keys/k1',
    'http://other.test/svc/org/keys/k1',
    '*',
  ])('R-01 the target %s, which changes no key', async (target) => {
    const before = await versionOfKey();
    const response = await send(update('other').replace('/svc/org/keys/k1', () => target));
    expect(response.status).toBe(400);
    expectGuarded(response);
    expect(await versionOfKey()).toBe(before);
  });

  it.each(['0.9', '2.0', '3.1'])('returns 505 for HTTP/%s', async (version) => {
    const response = await send(version === '0.9' ? 'GET /health\r\n\r\n' : request('/health', { version }));
    // Node's parser knows no other versions at all.
    expect(response.status).toBe(version === '3.1' ? 400 : 505);
    expectGuarded(response);
  });

  it('returns 417 for an unknown expectation, and meets the known one', async () => {
    expect((await send(request('/health', { headers: 'Expect: 200-ok\r\n' }))).status).toBe(417);
    const met = await send(preview('{}', 'Expect: 100-continue\r\n'));
    expect(met.text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 401 /);
  });

  it.each(['200-ok', '100-continue'])(
    'rejects Expect: 100-continue beside Expect: %s, and requests no body',
    async (other) => {
      const headers = `Expect: 100-continue\r\nExpect: ${other}\r\n`;
      const response = await send(preview('{}', headers));
      expect(response.text).toMatch(/^HTTP\/1\.1 417 /);
    },
  );

  it.each<[string, (inner: string) => string]>([
    [
      'a length that ends before it, and chunks',
      (inner) => `${post}${json}Content-Length: 4\r\n${chunked}\r\n0\r\n\r\n${inner}`,
    ],
    [
      'chunks that end before it, and a length',
      (inner) => `${post}${json}${chunked}Content-Length: ${inner.length + 5}\r\n\r\n0\r\n\r\n${inner}`,
    ],
    [
      'a coding that may hide it',
      (inner) => `${post}${json}Transfer-Encoding: xchunked\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
    ],
    ['two lengths', (inner) => `${post}${json}Content-Length: 0\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`],
    ['two hosts', (inner) => `${get}Host: y\r\n\r\n${inner}`],
    ['an absolute target', (inner) => `GET http://x/ HTTP/1.1\r\n${host}\r\n${inner}`],
    ['a folded header', (inner) => `${get}X-A: a\r\n b\r\n\r\n${inner}`],
  ])('T-04 executes no second request hidden by %s', async (_how, hide) => {
    const before = await versionOfKey();
    const response = await send(hide(update('smuggled')));
    expect(response.status).toBe(400);
    expect(response.text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(await versionOfKey()).toBe(before);
  });

  it('executes a valid request, also two on one connection', async () => {
    const before = Number(await versionOfKey());
    const response = await send(update('one') + update('two').replace(host, host + last));
    expect(response.text.match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
    expect(await versionOfKey()).toBe(before + 2);
  });

  it.each(['application/json', 'multipart/mixed', 'text/event-stream'])(
    'closes the connection with Connection: close after a response for Accept: %s',
    async (accept) => {
      for (const query of ['{ __typename }', '{ nothing }']) {
        const headers = `${json}Accept: ${accept}\r\nAuthorization: Bearer ${s.t.management}\r\n`;
        const response = await send(graphql(JSON.stringify({ query }), headers));
        expect([response.headers.get('connection'), response.isClosed]).toEqual(['close', true]);
      }
    },
  );

  it.each(['multipart/mixed', 'text/event-stream'])(
    'keeps the connection after a response for Accept: %s when the request does not end it',
    async (accept) => {
      const headers = `${json}Accept: ${accept}\r\nAuthorization: Bearer ${s.t.management}\r\n`;
      const first = graphql('{"query":"{ __typename }"}', headers).replace(last, '');
      const response = await send(first + request('/health'));
      expect(response.text.match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
    },
  );

  it('responds to a valid request before random bytes for itself or not at all, and never with their rejection', async () => {
    const response = await send(`${update('good')}\0\0\0\r\n\r\n`);
    expect(response.text).not.toContain('HTTP/1.1 400');
    expect(response.isClosed).toBe(true);
  });
});

describe('T-08 every response forbids caching and MIME sniffing, and does not name the server:', () => {
  it.each<[string, number, () => string]>([
    ['health', 200, () => request('/health')],
    ['readiness', 200, () => request('/ready')],
    ['the page', 200, () => request('/', { headers: 'Accept-Encoding: gzip\r\n' })],
    ['the way to the page', 302, () => request('/graphql', { headers: 'Accept: text/html\r\n' })],
    ['a preview', 200, () => preview('{}')],
    ['a key', 200, () => request('/svc/org/keys/k1', { headers: both() })],
    ['a page that has not changed', 304, () => request('/', { headers: 'If-None-Match: *\r\n' })],
    ['an operation', 200, () => graphql('{"query":"{ __typename }"}')],
    [
      'an operation that is none',
      400,
      () => graphql('{"query":"{"}', `${json}Accept: application/graphql-response+json\r\n`),
    ],
    ['a body that is no JSON', 400, () => preview('{')],
    ['no credential', 401, () => request('/svc/org/keys')],
    ['no such path', 404, () => request('/nowhere')],
    ['no such key', 404, () => request('/svc/org/keys/unknown', { headers: both() })],
    ['a wrong method', 405, () => request('/svc/org/keys', { method: 'PATCH' })],
    ['a wrong method for GraphQL', 405, () => request('/graphql', { method: 'PUT', headers: json, body: '{}' })],
    ['an Accept that cannot be met', 406, () => graphql('{}', `${json}Accept: image/png\r\n`)],
    [
      'a stale change',
      412,
      () => request('/svc/org/keys/k1', { method: 'PUT', headers: `${both()}${json}If-Match: "0"\r\n`, body: '{}' }),
    ],
    ['a body that is too large', 413, () => preview(' '.repeat(300_000))],
    ['a body of another type', 415, () => preview('{}', both())],
    ['an expectation', 417, () => request('/health', { headers: 'Expect: x\r\n' })],
    ['headers that are too large', 431, () => request('/health', { headers: `X-A: ${'a'.repeat(20_000)}\r\n` })],
    ['a target that is too long', 431, () => request(`/${'a'.repeat(20_000)}`)],
    ['a tunnel', 405, () => `CONNECT other.test:443 HTTP/1.1\r\n${host}\r\n`],
    ['another version', 505, () => request('/health', { version: '2.0' })],
  ])('%s (%i)', async (_what, status, bytes) => {
    const response = await send(bytes());
    expect(response.status).toBe(status);
    const isGraphQL = response.headers.get('content-type')?.includes('graphql-response') === true;
    if (isGraphQL)
      expect(response.headers.get('content-type')).toBe('application/graphql-response+json; charset=utf-8');
    expectGuarded(isGraphQL ? { ...response, body: '' } : response);
  });

  it('T-08 limits the requests of the page to its own origin by a policy', async () => {
    const { headers } = await send(request('/', { method: 'HEAD' }));
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; .*connect-src 'self';.*frame-ancestors 'none'$/,
    );
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });
});

describe('methods and paths of the service:', () => {
  it.each<[string, string]>([
    ['/health', 'GET, HEAD'],
    ['/ready', 'GET, HEAD'],
    ['/', 'GET, HEAD'],
    ['/graphql', 'GET, POST'],
    ['/api/keys/preview', 'POST'],
    ['/svc/org/keys', 'GET, HEAD, POST'],
    ['/svc/org/keys/k1', 'PUT, PATCH, GET, HEAD, POST, DELETE'],
    ['/svc/org/keys/k1/restore', 'POST'],
    ['/svc/org/keys/k1/quota', 'POST'],
    ['/svc/keys/verify', 'POST'],
  ])('T-06 %s returns 405 and Allow: %s for every other method', async (path, allow) => {
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'LINK'];
    for (const method of methods.filter((name) => !allow.split(', ').includes(name))) {
      const response = await send(request(path, { method }));
      expect(`${method} ${response.status}`).toBe(`${method} 405`);
      expect(response.headers.get('allow')).toBe(allow);
      expect(response.body === '').toBe(method === 'HEAD');
      // TRACE would send back what it was sent, credentials included.
      expect(response.body).not.toContain('keyfront.test');
    }
  });

  it.each(['GET', 'HEAD', 'POST', 'TRACE'])('T-06 %s returns 404 without a route', async (method) => {
    const { status, body } = await send(request('/nothing/here', { method }));
    expect(status).toBe(404);
    if (method !== 'HEAD') expect(body).toContain('"code":"NOT_FOUND"');
  });

  it.each(['/', '/health', '/svc/org/keys/k1', '/nowhere'])(
    'T-06 HEAD %s returns what GET does, without the body',
    async (target) => {
      const headers = `X-Svc-Authorization: ${s.t.service}\r\n`;
      const got = await send(request(target, { headers }));
      const head = await send(request(target, { method: 'HEAD', headers }));
      expect(head.status).toBe(got.status);
      expect(head.body).toBe('');
      expect(got.body).not.toBe('');
      for (const name of ['content-type', 'etag', 'cache-control', 'x-content-type-options', 'vary']) {
        expect([name, head.headers.get(name)]).toEqual([name, got.headers.get(name)]);
      }
    },
  );

  it('requires for HEAD the credential that GET requires', async () => {
    expect((await send(request('/svc/org/keys/k1', { method: 'HEAD' }))).status).toBe(401);
  });

  it.each([
    ['a final slash', ['/health/', '/graphql/', '/api/keys/preview/', '/svc/org/keys/', '/svc/org/keys/k1/']],
    ['capitals', ['/Health', '/GraphQL', '/API/keys/preview', '/svc/org/Keys', '/SVC/org/keys/k1']],
    ['an encoded slash', ['/svc%2forg/keys/k1', '/svc/org/keys%2Fk1', '/api/keys%2fpreview']],
    ['an encoded letter', ['/he%61lth', '/%67raphql', '/svc/org/%6beys']],
    ['a parameter in the path', ['/health;x=y', '/graphql;x', '/svc/org/keys;x=y']],
    ['white space', ['/health%20', '/%20health', '/graphql%09', '/health%00']],
    ['a first segment', ['/api/health', '/x/ready', '/graphql/health', '/graphql/unused', '/nothing?x=/health']],
  ])('T-06 %s makes it another path, which returns 404', async (_what, targets) => {
    for (const target of targets) expect(`${target} ${(await send(request(target))).status}`).toBe(`${target} 404`);
  });

  it.each(['...', 'a..b', '.a', '%2e%2e%2e'])('accepts the dots of the key identifier %s', async (key) => {
    const headers = `X-Svc-Authorization: ${s.t.service}\r\n`;
    expect((await send(request(`/svc/org/keys/${key}`, { headers }))).status).toBe(404);
  });

  it('G-13 rejects a mutation by GET with 405 and without effect', async () => {
    const before = await versionOfKey();
    const query = encodeURIComponent('mutation { updateOrgKey(keyID: "k1", input: {}) { status } }');
    const headers = `X-Svc-Authorization: ${s.t.service}\r\nAccept: application/json\r\n`;
    expect((await send(request(`/graphql?query=${query}`, { headers }))).status).toBe(405);
    expect(await versionOfKey()).toBe(before);
  });

  it('G-13 requires for a query by GET a header that no page can send across sites without a preflight', async () => {
    const target = `/graphql?query=${encodeURIComponent('{ __typename }')}`;
    const accept = 'Accept: application/json\r\n';
    const rejected = await send(request(target, { headers: accept }));
    expect(rejected.status).toBe(400);
    expect(rejected.body).not.toContain('"data"');
    // These a page may send as it likes.
    for (const harmless of ['Accept-Language: en', 'Content-Type: text/plain', 'Origin: null', 'Cookie: a=b']) {
      expect((await send(request(target, { headers: `${accept}${harmless}\r\n` }))).status).toBe(400);
    }
    for (const own of [
      'Authorization: x',
      'X-Svc-Authorization: x',
      'Apollo-Require-Preflight: 1',
      'X-GraphQL-Yoga-CSRF: 1',
    ]) {
      const response = await send(request(target, { headers: `${accept}${own}\r\n` }));
      expect(`${own} ${response.status} ${response.body}`).toBe(`${own} 200 {"data":{"__typename":"Query"}}`);
    }
  });
});

describe('a request body', () => {
  const apis: readonly [string, string, string][] = [
    ['/api/keys/preview', 'POST', '{}'],
    ['/svc/org/keys/k1', 'PUT', '{}'],
    ['/svc/keys/verify', 'POST', '{"requests":[{"key_id":"k1"}]}'],
    ['/graphql', 'POST', '{"query":"mutation { updateOrgKey(keyID: \\"k1\\", input: {}) { status } }"}'],
  ];

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-16',
  ])('T-07 is rejected with 415 for the type %j in every API, without effect', async (type) => {
    const before = await versionOfKey();
    for (const [path, method, body] of apis) {
      const response = await send(request(path, { method, headers: `${both()}Content-Type: ${type}\r\n`, body }));
      expect(`${path} ${response.status}`).toBe(`${path} 415`);
      expect(response.body).toContain('UNSUPPORTED_TYPE');
    }
    expect(await versionOfKey()).toBe(before);
  });

  it('is rejected with 415 without a type', async () => {
    for (const [path, method, body] of apis) {
      expect((await send(request(path, { method, headers: both(), body }))).status).toBe(415);
    }
  });

  it.each(['gzip', 'identity, gzip'])(
    'T-09 is rejected with 415 for the content encoding %s in every API, compressed or not',
    async (encoding) => {
      for (const [path, method, body] of apis) {
        const headers = `${both()}${json}Content-Encoding: ${encoding}\r\n`;
        const response = await send(request(path, { method, headers, body }));
        expect(`${path} ${response.status}`).toBe(`${path} 415`);
        expect(response.body).toContain('UNSUPPORTED_ENCODING');
      }
    },
  );

  it('T-09 is rejected with 400 if it is not UTF-8, and may start with one byte order mark', async () => {
    for (const [path, method, body] of apis) {
      const withBytes = (before: string) => `${before}${body}`;
      const headers = both() + json;
      const of = (bytes: string) =>
        Buffer.from(
          `${method} ${path} HTTP/1.1\r\n${host}${last}${headers}Content-Length: ${bytes.length}\r\n\r\n${bytes}`,
          'latin1',
        );
      const response = await send(of(withBytes('\xff')));
      expect(`${path} ${response.status}`).toBe(`${path} 400`);
      expect(response.body).toContain('MALFORMED_TEXT');
      expect((await send(of(withBytes('\xef\xbb\xbf')))).status).toBe(200);
      expect((await send(of(withBytes('\xef\xbb\xbf\xef\xbb\xbf')))).status).toBe(400);
    }
  });

  it.each(['text/html', 'application/xml', 'image/png', 'application/json;q=0, text/plain', '*/*', 'nonsense'])(
    'T-07 gets JSON for every Accept header, in REST (%s)',
    async (accept) => {
      for (const target of ['/svc/org/keys/k1', '/svc/org/keys/unknown', '/nowhere']) {
        const { headers } = await send(request(target, { headers: `${both()}Accept: ${accept}\r\n` }));
        expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      }
    },
  );

  it.each([1, 2, 7])('R-09 is read as a whole when it arrives in pieces of %i byte each', async (size) => {
    const body = '{"alias":"añ🔑"}';
    const pieces =
      Buffer.from(body)
        .toString('latin1')
        .match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    const chunks = pieces.map((piece) => `${piece.length}\r\n${piece}\r\n`).join('');
    const response = await send(`${preview('', both() + json + chunked)}${chunks}0\r\n\r\n`);
    expect(response.status).toBe(200);
    expect(Buffer.from(response.body, 'latin1').toString()).toContain('"alias":"añ🔑"');
  });

  it.each([
    ['a length', (body: string) => `Content-Length: ${body.length + 1}\r\n\r\n${body}`],
    ['chunks', (body: string) => `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n`],
  ])('R-09 changes nothing when it is cut off by %s', async (_how, framed) => {
    const before = await versionOfKey();
    const bytes = `PUT /svc/org/keys/k1 HTTP/1.1\r\n${host}${both()}${json}${framed('{"alias":"half"}')}`;
    await send(bytes, 100);
    expect((await send(request('/health'))).status).toBe(200);
    expect(await versionOfKey()).toBe(before);
  });

  it.each<[string, string, number]>([
    ['REST', '/api/keys/preview', 256 * 1024],
    ['GraphQL', '/graphql', 128 * 1024],
  ])(
    'T-03 of exactly the limit is read in %s, and with one byte more is rejected with 413, announced or in chunks',
    async (_face, path, limit) => {
      const start = path === '/graphql' ? '{"query":"{ __typename }"' : '{';
      for (const extra of [0, 1]) {
        const body = `${start}${' '.repeat(limit - start.length - 1 + extra)}}`;
        const headers = both() + json;
        const announced = await send(request(path, { method: 'POST', headers, body }));
        const inChunks = await send(
          `${request(path, { method: 'POST', headers: headers + chunked })}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
        );
        expect([announced.status, inChunks.status]).toEqual(extra === 0 ? [200, 200] : [413, 413]);
      }
    },
  );

  it.each<[string, string]>([
    ['its announced length', 'Content-Length: 1000000000\r\n'],
    ['its chunks', 'Transfer-Encoding: chunked\r\n'],
  ])(
    'T-03 over the limit by %s gets its response before it has arrived, and its connection is closed without reading it',
    async (_how, framing) => {
      const head = preview('', both() + json + framing).replace(last, '');
      const chunk = framing.startsWith('T') ? `40000\r\n${' '.repeat(0x40000)}\r\n1\r\n \r\n` : ' ';
      const began = performance.now();
      const response = await send(head + chunk);
      expect(response.status).toBe(413);
      expect(response.isClosed).toBe(true);
      expect(performance.now() - began).toBeLessThan(defaultTimeouts.requestMs);
    },
  );

  it('T-03 is not read for long after its rejection', async () => {
    const socket = connect(s.port, '127.0.0.1');
    socket.on('error', () => undefined).resume();
    const over = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    socket.write(preview('', `${both()}${json}Content-Length: 9000000000\r\n`).replace(last, ''));
    const piece = Buffer.alloc(1024 * 1024, 32);
    let sent = 0;
    while (!socket.destroyed && sent < 500) {
      sent += 1;
      if (!socket.write(piece)) await Promise.race([over, new Promise((resolve) => socket.once('drain', resolve))]);
      // On a fast machine too, at most 50 pieces come between two checks of the server.
      await timersDueWithin(1);
    }
    await over;
    // The rest lies in the buffers of the system between the two.
    expect(sent).toBeLessThan(100);
  });

  it('leaves the client its response when it is too large, and the connection its order', async () => {
    const headers = { authorization: `Bearer ${s.t.management}`, 'content-type': 'application/json' };
    const statusOf = async (body: BodyInit) => {
      const init = { method: 'POST', headers, body, duplex: 'half' } as const;
      return (await fetch(`${s.url}/api/keys/preview`, init)).status;
    };
    const inPieces = (size: number) =>
      new ReadableStream({
        start(controller) {
          for (let sent = 0; sent < size; sent += 65_536) controller.enqueue(new Uint8Array(65_536).fill(32));
          controller.close();
        },
      });
    for (const size of [300_000, 3_000_000]) {
      for (let times = 0; times < 4; times += 1) {
        const bodies = [' '.repeat(size), '{}', inPieces(size), '{}'];
        const statuses: number[] = [];
        for (const body of bodies) statuses.push(await statusOf(body));
        expect(statuses).toEqual([413, 200, 413, 200]);
      }
    }
  });
});

describe('the time limits', () => {
  it('T-02 equal the documented ones', () => {
    expect(defaultTimeouts.headersMs).toBeLessThanOrEqual(10_000);
    expect(defaultTimeouts.requestMs).toBeLessThanOrEqual(30_000);
    expect(defaultTimeouts.responseMs).toBeLessThanOrEqual(60_000);
  });
});
