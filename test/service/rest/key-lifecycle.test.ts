import { beforeEach, describe, expect, it } from 'vitest';
import { sendRequest, issuesOf } from '../../support/responses.js';
import { startOwnApp, type TestResponse, type TestApp } from '../../support/app.js';
import { expectNoChange, stateOf } from '../../support/state.js';
import { hashOf } from '../../support/factories.js';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
});

type Headers = Record<string, string>;

const create = (keyID: string, body: unknown, headers?: Headers) =>
  sendRequest(t, 'POST', `/svc/org/keys/${keyID}`, body, headers);
const remove = (keyID: string, headers?: Headers) =>
  sendRequest(t, 'DELETE', `/svc/org/keys/${keyID}`, undefined, headers);
const restore = (keyID: string, headers?: Headers) =>
  sendRequest(t, 'POST', `/svc/org/keys/${keyID}/restore`, undefined, headers);
const consume = (keyID: string, body?: unknown) => sendRequest(t, 'POST', `/svc/org/keys/${keyID}/quota`, body);
const read = (keyID: string) => sendRequest(t, 'GET', `/svc/org/keys/${keyID}`);

async function rejected(request: () => Promise<TestResponse>): Promise<TestResponse> {
  const response = await expectNoChange(t, request);
  expect(response.headers.get('etag')).toBeNull();
  return response;
}

describe('POST /svc/org/keys/{keyID}', () => {
  it('creates a key and returns the response of an update with the action added', async () => {
    const { status, headers, text } = await create('k1', {
      org_id: 'acme',
      alias: 'New',
      apply_policies: ['gold'],
    });
    expect(status).toBe(200);
    expect(headers.get('etag')).toBe('"1"');
    expect(text).toBe(`{"action":"added","key":"k1","key_hash":"${hashOf('k1')}","status":"ok"}`);
    expect((await read('k1')).body).toMatchObject({ version: 1, data: { alias: 'New', org_id: 'acme' } });
  });

  it('names problems with the names of REST, and creates nothing', async () => {
    const body = { org_id: 'acme', quota_max: 'x', access_rights: { inv: { limit: { rate: -2 } } } };
    const response = await rejected(() => create('k1', body));
    expect(response.status).toBe(400);
    expect(issuesOf(response)).toStrictEqual(['access_rights.inv.limit.rate OUT_OF_RANGE', 'quota_max WRONG_TYPE']);
    expect(issuesOf(await rejected(() => create('k1', {})))).toStrictEqual(['org_id MISSING']);
  });
});

describe('DELETE /svc/org/keys/{keyID} and POST …/restore', () => {
  beforeEach(async () => {
    await create('k1', { org_id: 'acme', alias: 'x' });
  });

  it('deletes a key, and restores it unchanged', async () => {
    const gone = await remove('k1');
    expect([gone.status, gone.headers.get('etag')]).toStrictEqual([200, '"2"']);
    expect(gone.text).toBe(`{"action":"deleted","key":"k1","key_hash":"${hashOf('k1')}","status":"ok"}`);
    expect((await read('k1')).status).toBe(404);
    const back = await restore('k1');
    expect([back.status, back.headers.get('etag')]).toStrictEqual([200, '"3"']);
    expect(back.text).toBe(`{"action":"restored","key":"k1","key_hash":"${hashOf('k1')}","status":"ok"}`);
    expect((await read('k1')).body).toMatchObject({ version: 3, data: { alias: 'x' } });
  });

  it('C-02 returns 412 if If-Match names another version, and changes the key if it names the current one', async () => {
    expect((await rejected(() => remove('k1', { 'if-match': '"2"' }))).status).toBe(412);
    expect((await rejected(() => remove('k1', { 'if-match': 'W/"1"' }))).status).toBe(412);
    expect((await remove('k1', { 'if-match': '"1"' })).status).toBe(200);
    expect((await rejected(() => restore('k1', { 'if-match': '"1"' }))).status).toBe(412);
    expect((await restore('k1', { 'if-match': '*' })).status).toBe(200);
  });

  it.each<[string, number]>([
    ['"1", "9"', 200],
    ['"9","1"', 200],
    ['W/"9", "a,b", "1"', 200],
    ['"8", "9"', 412],
    ['W/"1", "9"', 412],
    ['"a", W/"b"', 412],
    ['1', 412],
    ['', 412],
  ])('changes a key of version 1 when one tag of If-Match: %s is that version (%i)', async (tags, status) => {
    expect((await remove('k1', { 'if-match': tags })).status).toBe(status);
  });
});

describe('a stale change over REST', () => {
  it('is rejected with 412 and the paths changed since in the names of REST, access rights by their label', async () => {
    const right = (rate: number) => ({ api_id: 'invoices', limit: { rate, quota_renewal_rate: rate } });
    await create('k1', { org_id: 'acme', quota_max: 1, access_rights: { invoices: right(1), 'a b': {} } });
    await t.update('k1', { quota_max: 2, access_rights: { invoices: right(2) }, jwt_data: { secret: 'hunter2' } });
    for (const attempt of [
      () => t.update('k1', { alias: 'lost' }, '', { 'if-match': '"1"' }),
      () => remove('k1', { 'if-match': '"1"' }),
    ]) {
      const response = await rejected(attempt);
      expect([response.status, response.body['code']]).toStrictEqual([412, 'CONFLICT']);
      expect(response.body['message']).toBe('The key has version 2; the expected version is 1.');
      expect(issuesOf(response)).toStrictEqual([
        'access_rights.invoices.limit.quota_renewal_rate CHANGED_SINCE',
        'access_rights.invoices.limit.rate CHANGED_SINCE',
        'access_rights["a b"] CHANGED_SINCE',
        'jwt_data CHANGED_SINCE',
        'jwt_data.secret CHANGED_SINCE',
        'quota_max CHANGED_SINCE',
      ]);
      expect(response.text).not.toContain('hunter2');
    }
  });
});

it('serves a key with the identifier *, written as such or percent-encoded', async () => {
  expect((await create('*', { org_id: 'acme', quota_max: 10 })).body).toMatchObject({
    key: '*',
    key_hash: hashOf('*'),
  });
  for (const path of ['*', '%2A']) {
    expect((await read(path)).body).toMatchObject({ key: '*' });
    const target = `/svc/org/keys/${path}`;
    expect((await sendRequest(t, 'PUT', target, { alias: path, quota_max: 10 })).body).toMatchObject({ key: '*' });
    expect((await consume(path, { amount: 2 })).body).toMatchObject({ allowed: true });
    expect((await remove(path)).body).toMatchObject({ action: 'deleted' });
    expect((await restore(path)).body).toMatchObject({ action: 'restored' });
  }
  expect((await read('*')).body).toMatchObject({ data: { alias: '%2A' }, quota: { used: 4 } });
});

describe('POST /svc/org/keys/{keyID}/quota', () => {
  beforeEach(async () => {
    await create('k1', { org_id: 'acme', quota_max: 10, quota_renewal_rate: 60 });
  });

  it('consumes one request by default, and returns the live figures', async () => {
    const { status, headers, text } = await consume('k1');
    expect(status).toBe(200);
    expect(headers.get('etag')).toBeNull();
    expect(text).toBe('{"allowed":true,"used":1,"remaining":9,"quota_max":10,"renews_at":1769860860}');
    for (const body of [{}, { amount: null }, { amount: 1 }, { amount: 1.0 }]) await consume('k1', body);
    expect((await read('k1')).body).toMatchObject({ version: 1, quota: { used: 5, remaining: 5 } });
  });

  it('consumes the whole amount or nothing, and returns 200 with the rejection', async () => {
    expect((await consume('k1', { amount: 8 })).body).toMatchObject({ allowed: true, remaining: 2 });
    const { status, body } = await consume('k1', { amount: 3 });
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      allowed: false,
      refusal: 'QUOTA_EXCEEDED',
      used: 8,
      remaining: 2,
      quota_max: 10,
      renews_at: 1769860860,
    });
    expect((await consume('k1', { amount: 2 })).body).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('returns -1 if the quota is unlimited, and no renewal if there is none', async () => {
    await t.update('k1', {});
    expect((await consume('k1')).body).toStrictEqual({ allowed: true, used: 0, remaining: -1, quota_max: -1 });
  });

  it('does not change definition, version, history and the time of the last update', async () => {
    const before = await stateOf(t, 'k1');
    await consume('k1', { amount: 3 });
    const after = await stateOf(t, 'k1');
    expect(after).toStrictEqual({ ...before, key: { ...before.key, quota: { used: 3n, renews: 1769860860n } } });
  });

  it.each([
    [{ amount: 0 }, 'amount OUT_OF_RANGE'],
    [{ amount: -1 }, 'amount OUT_OF_RANGE'],
    [{ amount: 9223372036854775807n }, 'amount OUT_OF_RANGE'],
    [{ amount: 99999999999999999999n }, 'amount OUT_OF_RANGE'],
    [{ amount: 1.5 }, 'amount MALFORMED_ARGUMENT'],
    [{ amount: '1' }, 'amount MALFORMED_ARGUMENT'],
    [{ amount: true }, 'amount MALFORMED_ARGUMENT'],
    [{ amount: [1] }, 'amount MALFORMED_ARGUMENT'],
    [{ amout: 1 }, 'amout MALFORMED_ARGUMENT'],
    [{ amount: 1, key: 'x' }, 'key MALFORMED_ARGUMENT'],
  ])('rejects %o, and consumes nothing', async (body, issue) => {
    const response = await rejected(() => consume('k1', body));
    expect([response.status, issuesOf(response)]).toStrictEqual([400, [issue]]);
  });

  // Bytes, because `fetch` adds a content type to a text.
  const consumeWithout = (bytes: string) =>
    t.send('/svc/org/keys/k1/quota', {
      method: 'POST',
      body: new TextEncoder().encode(bytes),
      headers: { 'x-svc-authorization': t.service },
    });

  it.each(['{"amount":8}', 'amount=8', ' '])(
    'rejects the body %j without a content type, as PUT does',
    async (body) => {
      const response = await rejected(() => consumeWithout(body));
      expect([response.status, issuesOf(response)]).toStrictEqual([415, [' UNSUPPORTED_TYPE']]);
    },
  );

  it('consumes one request for an empty body without a content type', async () => {
    expect((await consumeWithout('')).body).toMatchObject({ allowed: true, used: 1 });
  });

  it.each([[[]], [null], [1], ['x']])('rejects the body %j, which is no object', async (body) => {
    expect((await rejected(() => consume('k1', body))).status).toBe(400);
  });
});
