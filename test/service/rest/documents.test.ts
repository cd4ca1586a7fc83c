import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { docsAssets, documentPath } from '../../../src/rest/docs-page/serve.js';
import { startOwnApp, startSharedApp } from '../../support/app.js';

const pagePaths = [...docsAssets.keys()];

const t = await startSharedApp();

const get = (path: string, headers: Record<string, string> = {}) => t.send(path, { headers });

describe('the OpenAPI document at /openapi.json', () => {
  it('equals schema/openapi.json, as JSON', async () => {
    const { status, headers, text } = await get(documentPath);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(text).toBe(readFileSync('schema/openapi.json', 'utf8'));
  });

  it('is returned without a credential or only with one, like introspection', async () => {
    for (const [env, status] of [
      [{}, 200],
      [{ KEYFRONT_INTROSPECTION: 'credential' }, 401],
      [{ NODE_ENV: 'production' }, 401],
      [{ NODE_ENV: 'production', KEYFRONT_INTROSPECTION: 'open' }, 200],
    ] as const) {
      const own = await startOwnApp(env);
      const response = await own.send(documentPath);
      expect([env, response.status]).toEqual([env, status]);
      if (status === 401) expect(response.text).not.toContain('openapi');
    }
  });

  it('does not confirm its entity tag to a request that may not read it', async () => {
    const etag = (await get(documentPath)).headers.get('etag') ?? '';
    const own = await startOwnApp({ NODE_ENV: 'production' });
    for (const tag of [etag, '*']) {
      const response = await own.send(documentPath, { headers: { 'if-none-match': tag } });
      expect(response.status).toBe(401);
      expect(response.headers.get('etag')).toBeNull();
    }
    const known = { 'if-none-match': etag, 'x-svc-authorization': own.service };
    expect((await own.send(documentPath, { headers: known })).status).toBe(304);
  });

  it('is rejected after too many failed attempts like every other request', async () => {
    const own = await startOwnApp({ NODE_ENV: 'production' });
    const headers = { 'x-svc-authorization': 'nonsense' };
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 11; attempt += 1) {
      const request = new Request('http://keyfront.test/openapi.json', { headers });
      statuses.push((await own.app.fetch(request, '10.0.0.1')).status);
    }
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429]);
  });
});

describe('the page of the REST documents', () => {
  it.each([
    ['development', {}, 200],
    ['development, GraphiQL switched off', { KEYFRONT_GRAPHIQL: 'off' }, 404],
    ['production', { NODE_ENV: 'production' }, 404],
    ['production, GraphiQL switched on', { NODE_ENV: 'production', KEYFRONT_GRAPHIQL: 'on' }, 200],
  ])('is served in %s if GraphiQL is', async (_, env, status) => {
    const own = await startOwnApp(env);
    for (const path of pagePaths) expect([path, (await own.send(path)).status]).toEqual([path, status]);
  });

  it('is HTML under a policy that allows our own files and no inline code', async () => {
    const { headers, text } = await get('/docs');
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(text).not.toMatch(/<script(?![^>]* src="\/)|<style|\sstyle=|\son\w+=/i);
  });

  it('references only its own files and the other pages, each of which is served with its type', async () => {
    const { text } = await get('/docs');
    const named = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
    expect(named.toSorted()).toEqual(['/', '/console', ...pagePaths.slice(1), documentPath].toSorted());
    const typeOf = async (path: string) => (await get(path)).headers.get('content-type')?.split(';')[0];
    expect(await Promise.all(pagePaths.map(typeOf))).toEqual([
      'text/html',
      'text/css',
      'text/javascript',
      'text/css',
      'text/javascript',
      'image/png',
    ]);
    for (const path of pagePaths) expect((await get(path)).headers.get('x-content-type-options')).toBe('nosniff');
  });

  it.each([
    '/docs/',
    '/docs/index.html',
    '/docs/swagger-ui.js',
    '/docs/swagger-ui-bundle.js.map',
    '/docs/swagger-initializer.js',
    '/docs/package.json',
    '/docs/oauth2-redirect.html',
    '/docs/..%2f..%2fpackage.json',
    '/docs/%2e%2e/package.json',
    '/docs/page.js/',
    '/docs/page.js%00',
    '/DOCS',
    '/swagger-ui.css',
    '/openapi.json/',
    '/openapi',
  ])('returns 404 at %s', async (path) => {
    const response = await get(path);
    expect(response.status).toBe(404);
    expect(response.body).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('stores no credential, uses no validator service, and fetches from its own origin alone', async () => {
    const { text } = await get('/docs/page.js');
    expect(text).toContain('persistAuthorization: false');
    expect(text).toContain('validatorUrl: null');
    expect(text.match(/fetch\([^,]+/g)).toEqual(['fetch("/openapi.json"', 'fetch("/console"']);
    expect(text).not.toMatch(/localStorage|sessionStorage|cookie|innerHTML|https?:/);
  });
});

describe.each([documentPath, ...pagePaths])('%s', (path) => {
  it('is compressed if the client accepts that, and not sent again to a client that has it', async () => {
    const gzip = { 'accept-encoding': 'gzip' };
    const { headers } = await t.app.fetch(new Request(`http://keyfront.test${path}`, { headers: gzip }));
    expect([headers.get('content-encoding'), headers.get('cache-control')]).toEqual(['gzip', 'private, no-cache']);
    const again = await get(path, { ...gzip, 'if-none-match': headers.get('etag') ?? '' });
    expect([again.status, again.text]).toEqual([304, '']);
    const head = await t.send(path, { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
  });

  it('is logged by its name', async () => {
    await get(`${path}?a=b`);
    expect(t.logs()).toContain(`"route":"${path}"`);
    expect(t.logs()).not.toContain('a=b');
  });
});
