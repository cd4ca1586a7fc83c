import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AppError } from '../../../src/lib/errors.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { describeConfigurations, makeOwnPlace } from '../../support/engines.js';
import { importPolicies } from '../../support/policies.js';
import { codeOf, dataOf, issuesOf } from '../../support/responses.js';
import { expectNoChange } from '../../support/state.js';

let t: TestApp;

interface Result {
  readonly allowed: boolean;
  readonly code: string;
  readonly quota?: { readonly used: number; readonly remaining: number };
}

const send = (app: TestApp, requests: unknown, service = app.service) =>
  app.send('/svc/keys/verify', {
    method: 'POST',
    headers: { 'x-svc-authorization': service, 'content-type': 'application/json' },
    body: JSON.stringify({ requests }),
  });
const resultsOf = ({ status, body }: Awaited<ReturnType<typeof send>>) => {
  expect(status).toBe(200);
  return body['results'] as Result[];
};
const verify = async (request: object, service?: string) => {
  const [result] = resultsOf(await send(t, [request], service));
  return result;
};
const usedOf = async (keyID: string, app = t) =>
  dataOf<{ quota: { used: number } }>(await app.graphql(`{ orgKey(by: { keyID: "${keyID}" }) { quota { used } } }`))
    .quota.used;

describe('verification', () => {
  beforeEach(async () => {
    t = await startOwnApp();
    await t.importKeys({
      key_id: 'k1',
      org_id: 'acme',
      alias: 'Billing',
      rate: 10,
      per: 60,
      quota_max: 3,
      quota_renewal_rate: 60,
      access_rights: { invoices: { versions: ['v1'], allowed_urls: [{ url: '/invoices/.*', methods: ['GET'] }] } },
    });
  });

  it('returns what a gateway needs, and counts the request', async () => {
    expect(
      await verify({ key_id: 'k1', api: 'invoices', version: 'v1', method: 'get', path: '/invoices/7?x=1' }),
    ).toEqual({
      allowed: true,
      code: 'VALID',
      key_hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      org_id: 'acme',
      alias: 'Billing',
      limits: { rate: 10, per: 60, quota_max: 3, quota_renewal_rate: 60 },
      quota: { used: 1, remaining: 2, quota_max: 3, renews_at: 1769860860 },
    });
    expect(await usedOf('k1')).toBe(1);
  });

  it('returns the same from the mutation', async () => {
    const query = `mutation { verifyKey(keyID: "k1", api: "invoices", method: "GET", path: "/invoices/7", amount: 2) {
      isAllowed code reasons { code } orgID alias limits { rate per } quota { used remaining } } }`;
    expect(dataOf(await t.graphql(query))).toEqual({
      isAllowed: true,
      code: 'VALID',
      reasons: [],
      orgID: 'acme',
      alias: 'Billing',
      limits: { rate: 10, per: 60 },
      quota: { used: 2, remaining: 1 },
    });
    expect(dataOf(await t.graphql(query))).toMatchObject({
      isAllowed: false,
      code: 'QUOTA_EXCEEDED',
      reasons: [{ code: 'QUOTA_EXCEEDED' }],
    });
  });

  it.each([
    ['an API that is not among those of the key', { api: 'other' }, 'NO_ACCESS'],
    ['a version that is not', { api: 'invoices', version: 'v2', method: 'GET', path: '/invoices/7' }, 'NO_ACCESS'],
    ['a method', { api: 'invoices', method: 'PUT', path: '/invoices/7' }, 'METHOD_OR_PATH_DENIED'],
    ['a path', { api: 'invoices', method: 'GET', path: '/orders' }, 'METHOD_OR_PATH_DENIED'],
    [
      'a path with dot segments',
      { api: 'invoices', method: 'GET', path: '/invoices/../orders' },
      'METHOD_OR_PATH_DENIED',
    ],
    ['more than remains', { amount: 4 }, 'QUOTA_EXCEEDED'],
  ])('denies %s, and counts nothing', async (_, request, code) => {
    const response = await expectNoChange(t, () => send(t, [{ key_id: 'k1', ...request }]));
    expect(resultsOf(response)).toMatchObject([{ allowed: false, code, reasons: [{ code }] }]);
  });

  it('denies a key that is switched off, expired or deleted, at once', async () => {
    await t.importKeys({ key_id: 'k2', org_id: 'acme', expires: 1769860900 });
    expect(await verify({ key_id: 'k2' })).toMatchObject({ allowed: true });
    t.clock.now = new Date(1769860900_000);
    expect(await verify({ key_id: 'k2' })).toMatchObject({ allowed: false, code: 'EXPIRED' });
    await t.update('k2', { is_inactive: true });
    expect(await verify({ key_id: 'k2' })).toMatchObject({ allowed: false, code: 'INACTIVE' });
    await t.send('/svc/org/keys/k2', { method: 'DELETE', headers: t.credentials });
    expect(await verify({ key_id: 'k2' })).toMatchObject({ allowed: false, code: 'DELETED' });
  });

  it('denies a key that needs a proof, unless the gateway states it', async () => {
    await t.importKeys({ key_id: 'k3', org_id: 'acme', hmac_enabled: true, hmac_string: 'secret' });
    expect(await verify({ key_id: 'k3' })).toMatchObject({ allowed: false, code: 'OTHER_CREDENTIAL_REQUIRED' });
    expect(await verify({ key_id: 'k3', proofs: ['HMAC'] })).toMatchObject({ allowed: true });
  });

  it('leaves the quota out with the amount 0, and shows it', async () => {
    await verify({ key_id: 'k1', amount: 3 });
    const show = () => expectNoChange(t, () => send(t, [{ key_id: 'k1', amount: 0 }]));
    expect(resultsOf(await show())).toMatchObject([{ allowed: true, quota: { used: 3, remaining: 0 } }]);
    t.clock.now = new Date(t.clock.now.getTime() + 60_000);
    expect(resultsOf(await show())).toMatchObject([{ allowed: true, quota: { used: 0, remaining: 3 } }]);
  });

  it('takes at most half of the largest amount', async () => {
    const verifyAmount = (amount: bigint) =>
      t.graphql(`mutation { verifyKey(keyID: "k1", amount: "${amount}") { code } }`);
    expect(dataOf(await verifyAmount(2n ** 62n - 1n))).toEqual({ code: 'QUOTA_EXCEEDED' });
    expect(issuesOf(await verifyAmount(2n ** 62n))).toEqual(['amount OUT_OF_RANGE']);
  });

  it('writes nothing for a key without a quota', async () => {
    await t.importKeys({ key_id: 'free', org_id: 'acme' });
    const response = await expectNoChange(t, () => send(t, [{ key_id: 'free' }]));
    expect(resultsOf(response)).toMatchObject([{ allowed: true, quota: { remaining: -1, quota_max: -1 } }]);
  });

  it('counts against the quota of a policy in place of that of the key', async () => {
    await importPolicies(t, { policy_id: 'gold', quota_max: 2 });
    await t.importKeys({ key_id: 'p', org_id: 'acme', quota_max: 100, apply_policies: ['gold'] });
    const codes = [];
    for (let n = 0; n < 3; n += 1) codes.push((await verify({ key_id: 'p' }))?.code);
    expect(codes).toEqual(['VALID', 'VALID', 'QUOTA_EXCEEDED']);
    await t.importKeys({ key_id: 'u', org_id: 'acme', apply_policies: ['unknown'] });
    expect(await verify({ key_id: 'u' })).toMatchObject({ code: 'UNKNOWN_POLICY' });
  });

  describe('of a repeated request', () => {
    const repeated = { key_id: 'k1', api: 'invoices', method: 'GET', path: '/invoices/7', idempotency_key: 'r-1' };

    it('counts once, also the last one that remains', async () => {
      await verify({ key_id: 'k1', amount: 2 });
      for (let n = 0; n < 3; n += 1)
        expect(await verify(repeated)).toMatchObject({ allowed: true, quota: { used: 3, remaining: 0 } });
      expect(await verify({ ...repeated, idempotency_key: 'r-2' })).toMatchObject({ code: 'QUOTA_EXCEEDED' });
    });

    it('counts once if all arrive at the same time', async () => {
      const results = await Promise.all(Array.from({ length: 20 }, () => verify(repeated)));
      expect(results.every((result) => result?.allowed)).toBe(true);
      expect(await usedOf('k1')).toBe(1);
    });

    it('counts another path, amount or key as another request', async () => {
      await t.importKeys({ key_id: 'k2', org_id: 'acme', quota_max: 3 });
      await verify(repeated);
      await verify({ ...repeated, path: '/invoices/8' });
      await verify({ key_id: 'k2', idempotency_key: 'r-1' });
      expect([await usedOf('k1'), await usedOf('k2')]).toEqual([2, 1]);
    });

    it('is denied once the key is', async () => {
      expect(await verify(repeated)).toMatchObject({ allowed: true });
      await t.update('k1', { quota_max: 3, is_inactive: true });
      expect(await verify(repeated)).toMatchObject({ allowed: false, code: 'INACTIVE' });
    });
  });

  it('shows a credential of another organization the same as for no key', async () => {
    const { secret } = await t.issue('service', { orgID: 'globex', scopes: ['verify'] });
    const nothing = { allowed: false, code: 'NOT_FOUND' };
    const response = await expectNoChange(t, () =>
      send(
        t,
        [{ key_id: 'k1' }, { key_id: 'none' }, { key_id: 'a/b' }, { key_id: '' }, { key_id: 'x'.repeat(999) }],
        secret,
      ),
    );
    const results = resultsOf(response);
    expect(results[0]).toEqual({ ...results[1] });
    for (const result of results) expect(result).toMatchObject(nothing);
    for (const result of results) expect(Object.keys(result)).toEqual(['allowed', 'code', 'reasons']);
  });

  it('decides a whole batch in order, each on its own', async () => {
    const requests = Array.from({ length: 100 }, (_, n) => ({ key_id: n % 2 === 0 ? 'k1' : `none-${n}` }));
    const results = resultsOf(await send(t, requests));
    expect(results.filter(({ allowed }) => allowed)).toHaveLength(3);
    expect(results.filter(({ code }) => code === 'QUOTA_EXCEEDED')).toHaveLength(47);
    expect(results.every(({ code }, n) => (code === 'NOT_FOUND') === (n % 2 === 1))).toBe(true);
    expect(await usedOf('k1')).toBe(3);
  });

  it.each([
    ['no requests', [], ['requests WRONG_TYPE']],
    ['too many requests', Array.from({ length: 101 }, () => ({ key_id: 'k1' })), ['requests WRONG_TYPE']],
    ['a text', 'k1', ['requests WRONG_TYPE']],
    ['no key', [{ key_id: 'k1' }, {}, { key_id: null }], ['requests[1].key_id MISSING', 'requests[2].key_id MISSING']],
    ['an unknown member', [{ key_id: 'k1', paths: '/' }], ['requests[0].paths UNKNOWN_FIELD']],
    ['a number for the path', [{ key_id: 'k1', path: 7 }], ['requests[0].path WRONG_TYPE']],
    ['a fraction', [{ key_id: 'k1', amount: 1.5 }], ['requests[0].amount WRONG_TYPE']],
    ['a negative amount', [{ key_id: 'k1' }, { key_id: 'k1', amount: -1 }], ['requests[1].amount OUT_OF_RANGE']],
    ['an unknown proof', [{ key_id: 'k1', proofs: ['FACE'] }], ['requests[0].proofs WRONG_TYPE']],
    [
      'a malformed idempotency key',
      [{ key_id: 'k1', idempotency_key: 'a b' }],
      ['requests[0].idempotency_key MALFORMED_ARGUMENT'],
    ],
  ])('rejects %s with its path, and counts nothing', async (_, requests, issues) => {
    const response = await expectNoChange(t, () => send(t, requests));
    expect([response.status, issuesOf(response)]).toEqual([400, issues]);
  });

  it('fails with the error of the storage, whole', async () => {
    const spy = vi
      .spyOn(t.app.services.store, 'consume')
      .mockRejectedValueOnce(new AppError('UNAVAILABLE', 'Storage is busy.'));
    expect(codeOf(await send(t, [{ key_id: 'k1' }, { key_id: 'k1' }]))).toBe('UNAVAILABLE');
    spy.mockRestore();
  });

  it('writes no identifier to the log, and no hash of one', async () => {
    await verify({ key_id: 'k1' });
    await verify({ key_id: 'password-of-a-client' });
    expect(t.logs()).toContain('verifyKeys');
    expect(t.logs()).not.toContain('password-of-a-client');
    for (const line of t.logLines('verifyKeys')) expect(line).not.toHaveProperty('keyHash');
  });
});

describeConfigurations('verification of a quota', (engine) => {
  it('grants exactly its maximum to 64 clients at once', async () => {
    const place = await makeOwnPlace(engine);
    t = await startOwnApp(place.env);
    await t.importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 100 });
    const clients = Array.from({ length: 64 }, async () => {
      let granted = 0;
      for (let n = 0; n < 4; n += 1) if ((await verify({ key_id: 'k1' }))?.allowed) granted += 1;
      return granted;
    });
    const granted = (await Promise.all(clients)).reduce((sum, one) => sum + one, 0);
    expect([granted, await usedOf('k1')]).toEqual([100, 100]);
  });

  it('decides at once with what another process has changed', async () => {
    const place = await makeOwnPlace(engine);
    t = await startOwnApp(place.env);
    const other = await startOwnApp(place.env);
    const key = (url: string) => ({
      org_id: 'acme',
      quota_max: 10,
      access_rights: { invoices: { allowed_urls: [{ url, methods: ['GET'] }] } },
    });
    await other.importKeys({ key_id: 'k1', ...key('/a') });
    const request = { key_id: 'k1', api: 'invoices', method: 'GET', path: '/a' };
    const codes = async () => [(await verify(request))?.code, (await verify({ ...request, path: '/b' }))?.code];
    for (let n = 0; n < 2; n += 1) expect(await codes()).toEqual(['VALID', 'METHOD_OR_PATH_DENIED']);
    await other.update('k1', key('/b'));
    expect(await codes()).toEqual(['METHOD_OR_PATH_DENIED', 'VALID']);
    await other.update('k1', { ...key('/b'), is_inactive: true });
    expect(await codes()).toEqual(['INACTIVE', 'INACTIVE']);
    await other.update('k1', { ...key('/b'), quota_max: 4 });
    expect(await verify({ ...request, path: '/b' })).toMatchObject({ quota: { used: 4, remaining: 0, quota_max: 4 } });
    expect(await verify({ ...request, path: '/b' })).toMatchObject({ code: 'QUOTA_EXCEEDED' });
    await other.update('k1', key('/b'));
    expect(await verify({ ...request, path: '/b' })).toMatchObject({ code: 'VALID' });
    await other.send('/svc/org/keys/k1', { method: 'DELETE', headers: other.credentials });
    expect(await codes()).toEqual(['DELETED', 'DELETED']);
    // Also about a key without a quota.
    await other.importKeys({ key_id: 'k2', org_id: 'acme' });
    const code = async () => (await verify({ key_id: 'k2' }))?.code;
    for (let n = 0; n < 2; n += 1) expect(await code()).toBe('VALID');
    await other.update('k2', { is_inactive: true });
    expect(await code()).toBe('INACTIVE');
  });

  it('counts a repeated request once, and shows the counter with the amount 0', async () => {
    const place = await makeOwnPlace(engine);
    t = await startOwnApp(place.env);
    await t.importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 2 });
    const repeated = { key_id: 'k1', idempotency_key: 'r-1' };
    for (let n = 0; n < 3; n += 1) expect(await verify(repeated)).toMatchObject({ allowed: true });
    expect(await verify({ key_id: 'k1', amount: 0 })).toMatchObject({ quota: { used: 1, remaining: 1 } });
    expect(await verify({ key_id: 'k1', amount: 2 })).toMatchObject({ code: 'QUOTA_EXCEEDED' });
  });
});
