import { describe, expect, it } from 'vitest';
import { routes } from '../../../src/rest/routes.js';
import { startOwnApp, startSharedApp } from '../../support/app.js';

const t = await startSharedApp();
await t.importKeys({ key_id: 'k1', org_id: 'acme' });

const both = { ...t.credentials, 'content-type': 'application/json' };

describe('the key API', () => {
  it('has the two operations of its document, the related ones, and no other', () => {
    expect(routes.map(({ method, path, credential }) => ({ method, path, credential }))).toStrictEqual([
      { method: 'POST', path: '/api/keys/preview', credential: 'management' },
      { method: 'PUT', path: '/svc/org/keys/*', credential: 'service' },
      { method: 'PATCH', path: '/svc/org/keys/*', credential: 'service' },
      { method: 'GET', path: '/svc/org/keys', credential: 'service' },
      { method: 'GET', path: '/svc/org/keys/*', credential: 'service' },
      { method: 'GET', path: '/svc/org/keys/*/usage', credential: 'service' },
      { method: 'POST', path: '/svc/org/keys', credential: 'service' },
      { method: 'POST', path: '/svc/org/keys/*', credential: 'service' },
      { method: 'DELETE', path: '/svc/org/keys/*', credential: 'service' },
      { method: 'POST', path: '/svc/org/keys/*/restore', credential: 'service' },
      { method: 'POST', path: '/svc/org/keys/*/rotate', credential: 'service' },
      { method: 'POST', path: '/svc/org/keys/*/cancel-rotation', credential: 'service' },
      { method: 'POST', path: '/svc/org/keys/*/quota', credential: 'service' },
      { method: 'POST', path: '/svc/keys/verify', credential: 'service' },
      { method: 'GET', path: '/svc/keys/deliver', credential: 'service' },
      { method: 'GET', path: '/svc/org/keys/*/deliver', credential: 'service' },
    ]);
  });

  it.each([
    ['GET', '/api/keys/preview', 'POST'],
    ['HEAD', '/api/keys/preview', 'POST'],
    ['OPTIONS', '/api/keys/preview', 'POST'],
    ['PATCH', '/svc/org/keys', 'GET, HEAD, POST'],
    ['OPTIONS', '/svc/org/keys/k1', 'PUT, PATCH, GET, HEAD, POST, DELETE'],
    ['PUT', '/svc/org/keys', 'GET, HEAD, POST'],
    ['DELETE', '/svc/org/keys', 'GET, HEAD, POST'],
    ['HEAD', '/svc/org/keys/k1/restore', 'POST'],
    ['POST', '/health', 'GET, HEAD'],
    ['DELETE', '/ready', 'GET, HEAD'],
    ['POST', '/', 'GET, HEAD'],
    ['DELETE', '/svc/org/keys/k1/restore', 'POST'],
    ['GET', '/svc/org/keys/k1/quota', 'POST'],
    ['GET', '/svc/keys/verify', 'POST'],
    ['POST', '/svc/keys/deliver', 'GET, HEAD'],
    ['POST', '/svc/org/keys/k1/deliver', 'GET, HEAD'],
  ])('returns 405 for %s %s and Allow: %s', async (method, path, allow) => {
    for (const headers of [{}, both]) {
      const { status, headers: completed, body } = await t.send(path, { method, headers });
      expect(status).toBe(405);
      expect(completed.get('allow')).toBe(allow);
      if (method !== 'HEAD') expect(body).toMatchObject({ status: 'error', code: 'INVALID' });
    }
  });

  it.each([
    '/api/health',
    '/api/keys/preview/',
    '/api/keys/Preview',
    '/api/keys/preview%2f',
    '/svc/org/keys/',
    '/svc/org/keys//restore',
    '/svc/org/keys/k1/restore/',
    '/svc/org/keys/k1/quota/1',
    '/svc/org/keys/k1/x',
    '/svc/keys/verify/',
    '/svc/keys/deliver/k1',
    '/authz/',
    '/authz/envoy',
    '/authz/x',
    '/svc/org/Keys/k1',
    '/prefix/svc/org/keys/k1',
    '/graphql/unused',
    '/health/',
    '/.env',
  ])('returns 404 for %s with every method and credential', async (path) => {
    for (const method of ['GET', 'POST', 'PUT']) {
      for (const headers of [{}, both]) {
        const init = method === 'GET' ? { method, headers } : { method, headers, body: '{}' };
        const { status, body } = await t.send(path, init);
        expect(`${method} ${status}`).toBe(`${method} 404`);
        expect(body).toStrictEqual({
          status: 'error',
          message: 'The path does not exist.',
          code: 'NOT_FOUND',
          request_id: expect.any(String),
        });
      }
    }
  });

  it('returns each error with status, message, code, its issues, and the id of the request', async () => {
    const { headers, body } = await t.preview({ nonsense: 1 });
    expect(Object.keys(body)).toStrictEqual(['status', 'message', 'code', 'issues', 'request_id']);
    expect(body).toStrictEqual({
      status: 'error',
      message: 'The key definition has a problem.',
      code: 'INVALID',
      issues: [{ path: 'nonsense', code: 'UNKNOWN_FIELD', message: expect.any(String) }],
      request_id: headers.get('x-request-id'),
    });
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('gives each request its own id', async () => {
    const ids = [await t.preview({}), await t.preview({})].map(({ headers }) => headers.get('x-request-id'));
    expect(new Set(ids).size).toBe(2);
  });

  it('A-06 checks the credential before the parameters, the key identifier or the body', async () => {
    const send = [
      () => t.send('/svc/org/keys/%00?reset_quota=2', { method: 'PUT', body: '{' }),
      () => t.send('/api/keys/preview?x=1', { method: 'POST', body: 'x'.repeat(300_000) }),
    ];
    for (const request of send) {
      const { status, body } = await request();
      expect(status).toBe(401);
      expect(body).toMatchObject({
        code: 'UNAUTHENTICATED',
        message: expect.stringMatching(/^A valid .* credential is required/) as unknown,
      });
    }
  });
});

describe('/health and /ready', () => {
  it('/ready returns 503 while the service drains, and requests are still served', async () => {
    const draining = await startOwnApp();
    draining.app.drain();
    expect((await draining.send('/ready')).status).toBe(503);
    expect((await draining.send('/health')).status).toBe(200);
    expect((await draining.preview({})).status).toBe(200);
  });

  it('/ready returns 503 without the database', async () => {
    const broken = await startOwnApp();
    await broken.app.services.close();
    expect((await broken.send('/ready')).status).toBe(503);
    expect((await broken.send('/health')).status).toBe(200);
  });
});
