import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AppError } from '../../../src/lib/errors.js';
import { startOwnApp, type TestApp } from '../../support/app.js';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
  await t.importKeys(
    {
      key_id: 'k1',
      org_id: 'acme',
      alias: 'Zoë',
      rate: 10,
      per: 60,
      quota_max: 3,
      quota_renewal_rate: 60,
      access_rights: { invoices: { versions: ['v1'], allowed_urls: [{ url: '/invoices/.*', methods: ['GET'] }] } },
    },
    { key_id: 'free', org_id: 'acme' },
    { key_id: 'off', org_id: 'acme', is_inactive: true },
    { key_id: 'old', org_id: 'acme', expires: 1769860800 },
    { key_id: 'hmac', org_id: 'acme', hmac_enabled: true, hmac_string: 'secret' },
    { key_id: 'ключ', org_id: 'acme' },
  );
});

const gateway = () => ({ 'x-svc-authorization': t.service });
const original = (path = '/invoices/7', method = 'GET') => ({ 'x-forwarded-method': method, 'x-forwarded-uri': path });
const ask = (headers: Record<string, string>, options = '') =>
  t.send(`/authz${options}`, { headers: { ...gateway(), ...original(), ...headers } });

describe('/authz', () => {
  it('permits a request with 200, no body, and the values of the key in headers', async () => {
    const { status, text, headers } = await ask({ 'x-api-key': 'k1' }, '?api=invoices&version=v1&alias=1');
    expect([status, text]).toEqual([200, '']);
    expect(Object.fromEntries([...headers].filter(([name]) => name.startsWith('x-key-')))).toEqual({
      'x-key-code': 'VALID',
      'x-key-hash': expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      'x-key-org': 'acme',
      'x-key-alias': 'Zo%C3%AB',
      'x-key-remaining': '2',
      'x-key-renews': '1769860860',
      'x-key-rate': '10',
      'x-key-per': '60',
    });
  });

  it('has each header also for a key without limits, so that none of the client passes', async () => {
    const { headers } = await ask({ 'x-api-key': 'free' });
    for (const name of ['x-key-remaining', 'x-key-renews', 'x-key-rate', 'x-key-per'])
      expect(headers.get(name)).toBe('-1');
    expect(headers.get('x-key-alias')).toBeNull();
  });

  it.each([
    ['no key', {}, '', 401, 'NOT_FOUND'],
    ['an unknown key', { 'x-api-key': 'none' }, '', 401, 'NOT_FOUND'],
    ['an identifier that no key can have', { 'x-api-key': 'a/b' }, '', 401, 'NOT_FOUND'],
    ['an identifier that is too long', { 'x-api-key': 'x'.repeat(5000) }, '', 401, 'NOT_FOUND'],
    ['an expired key', { 'x-api-key': 'old' }, '', 401, 'EXPIRED'],
    ['a key that needs a proof', { 'x-api-key': 'hmac' }, '', 401, 'OTHER_CREDENTIAL_REQUIRED'],
    ['a key that is switched off', { 'x-api-key': 'off' }, '', 403, 'INACTIVE'],
    ['another API', { 'x-api-key': 'k1' }, '?api=orders', 403, 'NO_ACCESS'],
    [
      'another method',
      { 'x-api-key': 'k1', ...original('/invoices/7', 'PUT') },
      '?api=invoices',
      403,
      'METHOD_OR_PATH_DENIED',
    ],
    ['another path', { 'x-api-key': 'k1', ...original('/orders') }, '?api=invoices', 403, 'METHOD_OR_PATH_DENIED'],
    [
      'a path with encoded dots',
      { 'x-api-key': 'k1', ...original('/invoices/%2e%2e/orders') },
      '?api=invoices',
      403,
      'METHOD_OR_PATH_DENIED',
    ],
  ])('denies %s', async (_, headers, options, status, code) => {
    const response = await ask(headers, options);
    expect([response.status, response.headers.get('x-key-code'), response.body['code']]).toEqual([status, code, code]);
    expect(response.headers.get('www-authenticate')).toBe(
      status === 401 ? 'ApiKey realm="api", header="x-api-key"' : null,
    );
    expect(response.headers.get('x-key-hash')).toBeNull();
  });

  it('denies what exceeds the quota with 429, and says when to retry', async () => {
    t.clock.now = new Date('2026-01-31T12:00:20Z');
    await ask({ 'x-api-key': 'k1' });
    t.clock.now = new Date('2026-01-31T12:00:50Z');
    for (let n = 0; n < 2; n += 1) expect((await ask({ 'x-api-key': 'k1' })).status).toBe(200);
    const { status, headers } = await ask({ 'x-api-key': 'k1' });
    expect([status, headers.get('x-key-code'), headers.get('retry-after')]).toEqual([429, 'QUOTA_EXCEEDED', '10']);
    await t.importKeys({ key_id: 'once', org_id: 'acme', quota_max: 1 });
    await ask({ 'x-api-key': 'once' });
    expect((await ask({ 'x-api-key': 'once' })).headers.get('retry-after')).toBeNull();
  });

  it.each([
    ['key=header:X-Key', { 'x-key': 'k1' }],
    ['key=header:Authorization', { authorization: 'k1' }],
    ['key=bearer', { authorization: 'Bearer k1' }],
    ['key=basic', { authorization: `Basic ${btoa('k1:any')}` }],
    ['key=basic', { authorization: `Basic ${btoa('k1')}` }],
    ['key=query:key', original('/invoices/7?a=%zz&key=k%31&b')],
  ])('finds the key at %s', async (place, headers) => {
    expect((await ask(headers, `?${place}&count=0`)).status).toBe(200);
    expect((await ask({}, `?${place}`)).status).toBe(401);
  });

  it('reads identifiers in headers as UTF-8', async () => {
    const name = Buffer.from('ключ').toString('latin1');
    expect((await ask({ 'x-api-key': name })).status).toBe(200);
  });

  it('accepts no key that is sent twice', async () => {
    expect((await ask(original('/?key=k1&key=free'), '?key=query:key')).status).toBe(401);
    expect((await ask({ 'x-api-key': 'k1, free' })).status).toBe(401);
  });

  it('reads the request behind the prefix of Envoy, with its method', async () => {
    const envoy = (path: string, method = 'GET') =>
      t.send(`/authz/envoy/${path}`, { method, headers: { ...gateway(), 'x-api-key': 'k1', ...original('/orders') } });
    expect((await envoy('api=invoices/invoices/7?x=1')).status).toBe(200);
    expect((await envoy('api=invoices/invoices/7', 'HEAD')).headers.get('x-key-code')).toBe('METHOD_OR_PATH_DENIED');
    expect((await envoy('api=invoices/orders')).headers.get('x-key-code')).toBe('METHOD_OR_PATH_DENIED');
    expect((await envoy('api=invoices&key=query:k/invoices/7?k=k1')).status).toBe(200);
    for (const path of ['', 'api=invoices', '/invoices/7', 'v1/invoices/7', 'invoices/7'])
      expect([path, (await envoy(path)).status]).toEqual([path, 400]);
  });

  it('counts a request once if the gateway identifies it, and not at all with count=0', async () => {
    const remaining = async (headers: Record<string, string>, options: string) =>
      (await ask({ 'x-api-key': 'k1', ...headers }, options)).headers.get('x-key-remaining');
    for (let n = 0; n < 3; n += 1) expect(await remaining({ 'x-request-id': 'a' }, '?request_id=1')).toBe('2');
    expect(await remaining({ 'x-request-id': 'b' }, '?request_id=1')).toBe('1');
    expect(await remaining({ 'x-request-id': 'b' }, '')).toBe('0');
    expect(await remaining({}, '?count=0')).toBe('0');
  });

  it.each([
    ['no method', { 'x-forwarded-method': '' }, '', 'X-Forwarded-Method'],
    ['a repeated method', { 'x-forwarded-method': 'GET, PUT' }, '', 'X-Forwarded-Method'],
    ['no URI', { 'x-forwarded-uri': '' }, '', 'X-Forwarded-Uri'],
    ['a repeated URI', { 'x-forwarded-uri': '/a, /b' }, '', 'X-Forwarded-Uri'],
    ['an absolute URI', { 'x-forwarded-uri': 'http://a/b' }, '', 'X-Forwarded-Uri'],
    ['no request identifier', {}, '?request_id=1', 'X-Request-ID'],
    ['a malformed request identifier', { 'x-request-id': 'a b' }, '?request_id=1', 'X-Request-ID'],
    ['an unknown option', {}, '?apis=1', 'apis'],
    ['a repeated option', {}, '?api=a&api=b', 'api'],
    ['another number', {}, '?count=2', 'count'],
    ['an unknown place of the key', {}, '?key=cookie:a', 'key'],
    ['a header name that is none', {}, '?key=header:a%20b', 'key'],
  ])('responds to a gateway that sends %s with 400, which names it', async (_, headers, options, name) => {
    const { status, text } = await ask({ 'x-api-key': 'k1', ...headers }, options);
    expect(status).toBe(400);
    expect(text).toContain(name);
  });

  it('rejects a gateway without a credential for it with 403, so that no client thinks that its key is wrong', async () => {
    const { secret: reader } = await t.issue('service', { scopes: ['read', 'consume'] });
    const { secret: verifier } = await t.issue('service', { scopes: ['verify'] });
    const statusOf = async (secret: string) => {
      const { status, headers, body } = await ask({ 'x-api-key': 'free', 'x-svc-authorization': secret });
      return [status, body['code'] ?? headers.get('x-key-code')];
    };
    expect(await statusOf(verifier)).toEqual([200, 'VALID']);
    expect(await statusOf(reader)).toEqual([403, 'FORBIDDEN']);
    expect(await statusOf('')).toEqual([403, 'UNAUTHENTICATED']);
    expect(await statusOf('kf_svc_wrong')).toEqual([403, 'UNAUTHENTICATED']);
    const { headers } = await ask({ 'x-svc-authorization': t.management });
    expect([headers.get('www-authenticate'), headers.get('x-key-code')]).toEqual([null, null]);
  });

  it('shows a credential of another organization the same as for no key', async () => {
    const { secret } = await t.issue('service', { orgID: 'globex', scopes: ['verify'] });
    const [foreign, unknown] = [
      await ask({ 'x-api-key': 'k1', 'x-svc-authorization': secret }),
      await ask({ 'x-api-key': 'none', 'x-svc-authorization': secret }),
    ];
    expect(foreign.status).toBe(401);
    const comparable = ({ headers, body }: typeof foreign) => [
      [...headers].filter(([name]) => name !== 'x-request-id'),
      { ...body, request_id: '' },
    ];
    expect(comparable(foreign)).toEqual(comparable(unknown));
  });

  it('responds with 503 when storage fails, and with 500 without details to what is unexpected', async () => {
    const find = vi.spyOn(t.app.services.store, 'find');
    find.mockRejectedValueOnce(new AppError('UNAVAILABLE', 'Storage is busy.', { retryAfterSeconds: 1 }));
    const busy = await ask({ 'x-api-key': 'k1' });
    expect([busy.status, busy.headers.get('retry-after'), busy.headers.get('x-key-code')]).toEqual([503, '1', null]);
    find.mockRejectedValueOnce(new Error('disk k1'));
    const failed = await ask({ 'x-api-key': 'k1' });
    expect([failed.status, failed.text.includes('disk')]).toEqual([500, false]);
    find.mockRestore();
  });

  it('ignores the Authorization of the client, whatever it is, and counts no failed attempt of it', async () => {
    for (let n = 0; n < 30; n += 1) {
      const request = new Request('http://keyfront.test/authz', {
        headers: { ...gateway(), ...original(), 'x-api-key': 'free', authorization: `Bearer kf_mgt_${n}xxxxxxxxx` },
      });
      expect((await t.app.fetch(request, '192.0.2.9')).status).toBe(200);
    }
    expect(t.logs()).not.toContain('"event":"authentication"');
  });

  it('writes no identifier to the log, wherever the client sends it', async () => {
    const secret = 'canary-of-a-client';
    await ask({ 'x-api-key': secret });
    await ask({ authorization: `Bearer ${secret}` }, '?key=bearer');
    await ask({ authorization: `Basic ${btoa(`${secret}:${secret}`)}` }, '?key=basic');
    await ask(original(`/a?key=${secret}`), '?key=query:key');
    await ask(original(`/a b?key=${secret}`), '?key=query:key');
    const headers = { ...gateway(), 'x-api-key': secret };
    await t.send(`/authz/envoy/key=query:k/${secret}?k=${secret}`, { headers });
    await t.send(`/authz/envoy/${secret}/?k=${secret}`, { headers });
    expect(t.logLines('"route":"/authz').map(({ route, status }) => [route, status])).toEqual([
      ...Array.from({ length: 4 }, () => ['/authz', 401]),
      ['/authz', 400],
      ['/authz/envoy/**', 401],
      ['/authz/envoy/**', 400],
    ]);
    expect(t.logs()).not.toContain('canary');
    expect(t.logs()).not.toContain(btoa(secret).slice(0, 20));
  });

  it('decides about hostile paths and patterns in milliseconds', async () => {
    const allowed_urls = [
      ...Array.from({ length: 200 }, (_, n) => ({ url: `/(a|b|ab)*${n}(a*)*c`, methods: ['GET'] })),
      { url: '(.*a){20}', methods: ['GET'] },
    ];
    await t.importKeys({ key_id: 'slow', org_id: 'acme', access_rights: { invoices: { allowed_urls } } });
    const paths = [`/${'ab'.repeat(1000)}`, `/${'%61'.repeat(2000)}`, `/${'a/'.repeat(3000)}`, `/?${'&'.repeat(8000)}`];
    for (const path of paths) {
      expect((await ask({ 'x-api-key': 'slow', ...original(path) }, '?api=invoices&key=query:k')).status).toBe(401);
      const before = process.cpuUsage();
      expect((await ask({ 'x-api-key': 'slow', ...original(path) }, '?api=invoices')).status).toBe(403);
      // A whole request, whose code is not compiled yet. test/bench/longest-block.mjs measures.
      expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
    }
  });
});
