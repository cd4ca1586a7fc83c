import { beforeEach, describe, expect, it } from 'vitest';
import { createUseQueries } from '../../../src/keys/queries/read-use.js';
import { dayOf } from '../../../src/keys/use/use.js';
import { startApp, startOwnApp, type TestApp } from '../../support/app.js';
import { describeConfigurations, describeEngines, makeOwnPlace, type EnginePlace } from '../../support/engines.js';
import { hashOf } from '../../support/factories.js';
import { codeOf, dataOf, issuesOf } from '../../support/responses.js';

let t: TestApp;
let place: EnginePlace;
const day = 86_400_000;
const after = (ms: number) => {
  t.clock.now = new Date(t.clock.now.getTime() + ms);
};
const write = () => t.app.flushUses();
const mutate = async (call: string, headers?: Record<string, string>) =>
  t.graphql(`mutation { ${call} }`, undefined, headers);
const verify = (keyID: string, args = '') => mutate(`verifyKey(keyID: "${keyID}"${args}) { code }`);
const consume = (keyID: string, args = '') => mutate(`consumeOrgQuota(keyID: "${keyID}"${args}) { allowed }`);
const fields = 'lastUsedAt usage { from to allowed denied days { day allowed denied } }';
const useOf = async (keyID: string, selected = fields, headers?: Record<string, string>) =>
  dataOf(await t.graphql(`{ orgKey(by: { keyID: "${keyID}" }) { ${selected} } }`, undefined, headers));
const useOfOrg = async (orgID: string) =>
  dataOf<Record<string, unknown> | null>(
    await t.graphql(`{ organization(id: "${orgID}") { keyUsage { allowed denied days { day allowed denied } } } }`),
  );
const namesOf = async (args: string) => {
  const found = await t.graphql(`{ orgKeys(${args}) { totalCount edges { node { keyID } } pageInfo { endCursor } } }`);
  return dataOf<{ edges: { node: { keyID: string } }[] }>(found).edges.map(({ node }) => node.keyID);
};
const get = (path: string, secret = t.service) => t.send(path, { headers: { 'x-svc-authorization': secret } });

describeConfigurations('the use of a key', (engine) => {
  beforeEach(async () => {
    place = await makeOwnPlace(engine);
    t = await startOwnApp(place.env);
    await t.importKeys(
      { key_id: 'k1', org_id: 'acme', quota_max: 5 },
      { key_id: 'k2', org_id: 'acme' },
      { key_id: 'k3', org_id: 'globex' },
    );
  });

  it('counts what was verified and consumed by day, allowed and denied, for the key and its organization', async () => {
    expect(await useOf('k1')).toEqual({
      lastUsedAt: null,
      usage: { from: '2026-01-02', to: '2026-01-31', allowed: 0, denied: 0, days: [] },
    });
    await consume('k1');
    await consume('k1', ', amount: 2');
    await verify('k1');
    await verify('k1', ', amount: 7');
    await consume('k1', ', amount: 3');
    await verify('k2');
    await t.send('/svc/org/keys/k2/quota', {
      method: 'POST',
      headers: { 'x-svc-authorization': t.service, 'content-type': 'application/json' },
      body: '{"amount":4}',
    });
    await t.send('/svc/keys/verify', {
      method: 'POST',
      headers: { 'x-svc-authorization': t.service, 'content-type': 'application/json' },
      body: '{"requests":[{"key_id":"k2"},{"key_id":"none"},{"key_id":"k2","api":"other"}]}',
    });
    await t.send('/authz', {
      headers: {
        'x-api-key': 'k2',
        'x-svc-authorization': t.service,
        'x-forwarded-method': 'GET',
        'x-forwarded-uri': '/invoices/7',
      },
    });
    after(day);
    await consume('k1');
    await verify('k1', ', amount: 0');
    await write();
    const [first, second] = [
      { day: '2026-01-31', allowed: 4, denied: 10 },
      { day: '2026-02-01', allowed: 1, denied: 0 },
    ];
    expect(await useOf('k1')).toEqual({
      lastUsedAt: '2026-02-01T12:00:00.000Z',
      usage: { from: '2026-01-03', to: '2026-02-01', allowed: 5, denied: 10, days: [first, second] },
    });
    expect(await useOf('k2', 'lastUsedAt')).toEqual({ lastUsedAt: '2026-01-31T12:00:00.000Z' });
    const ofK2 = dataOf<{ usage: { allowed: number; denied: number } }>(
      await t.graphql('{ orgKey(by: { keyID: "k2" }) { usage { allowed denied } } }'),
    ).usage;
    expect(ofK2).toEqual({ allowed: 7, denied: 1 });
    expect(await useOfOrg('acme')).toEqual({
      keyUsage: {
        allowed: 12,
        denied: 11,
        days: [{ day: '2026-01-31', allowed: 11, denied: 11 }, second],
      },
    });
    expect(await useOfOrg('globex')).toEqual({ keyUsage: { allowed: 0, denied: 0, days: [] } });
    expect((await get('/svc/org/keys/k1/usage?from=2026-02-01&to=2026-02-01')).body).toEqual({
      key_hash: hashOf('k1'),
      from: '2026-02-01',
      to: '2026-02-01',
      allowed: 1,
      denied: 0,
      days: [second],
    });
    expect((await get('/svc/org/keys/k1')).body['last_used_at']).toBe('2026-02-01T12:00:00.000Z');
    expect((await get('/svc/org/keys/k3')).body['last_used_at']).toBeUndefined();
    // Nothing is counted twice by another write.
    await write();
    expect((await useOfOrg('acme'))?.['keyUsage']).toMatchObject({ allowed: 12, denied: 11 });
  });

  it('counts a repeated request once, and none of another organization', async () => {
    for (let times = 0; times < 3; times += 1) {
      await consume('k1', ', idempotencyKey: "a"');
      await verify('k1', ', idempotencyKey: "b"');
    }
    const foreign = { 'x-svc-authorization': (await t.issue('service', { orgID: 'globex' })).secret };
    await mutate('verifyKey(keyID: "k1") { code }', foreign);
    await mutate('consumeOrgQuota(keyID: "k1") { allowed }', foreign);
    await write();
    expect(await useOf('k1', 'usage { allowed denied }')).toEqual({ usage: { allowed: 2, denied: 0 } });
    expect(await useOf('k1', fields, foreign)).toBeNull();
    expect((await get('/svc/org/keys/k1/usage', foreign['x-svc-authorization'])).status).toBe(404);
    const organization = await t.graphql('{ organization(id: "acme") { keyUsage { allowed } } }', undefined, foreign);
    expect(dataOf(organization)).toBeNull();
    const blind = { 'x-svc-authorization': (await t.issue('service', { scopes: ['verify'] })).secret };
    expect(codeOf(await t.graphql('{ orgKey(by: { keyID: "k1" }) { usage { allowed } } }', undefined, blind))).toBe(
      'FORBIDDEN',
    );
  });

  it('is ordered and filtered by the last use, those that were never used first', async () => {
    await verify('k2');
    after(1);
    await verify('k1');
    await write();
    expect(await namesOf('orderBy: LAST_USED')).toEqual(['k3', 'k2', 'k1']);
    expect(await namesOf('orderBy: LAST_USED, descending: true, filter: { orgID: "acme" }')).toEqual(['k1', 'k2']);
    const first = dataOf<{ pageInfo: { endCursor: string } }>(
      await t.graphql('{ orgKeys(orderBy: LAST_USED, first: 2) { pageInfo { endCursor } } }'),
    ).pageInfo.endCursor;
    expect(await namesOf(`orderBy: LAST_USED, first: 2, after: "${first}"`)).toEqual(['k1']);
    expect(await namesOf(`orderBy: LAST_USED, last: 1, before: "${first}"`)).toEqual(['k3']);
    expect(await namesOf('orderBy: LAST_USED, filter: { unusedSince: "2026-01-31T12:00:00.001Z" }')).toEqual([
      'k3',
      'k2',
    ]);
    expect(await namesOf('orderBy: LAST_USED, filter: { unusedSince: "2026-01-31T12:00:00.0011Z" }')).toEqual([
      'k3',
      'k2',
      'k1',
    ]);
    const listed = await get(
      `/svc/org/keys?order_by=LAST_USED&unused_since=${Date.parse('2026-01-31T12:00:00Z') / 1000}`,
    );
    expect(listed.body['keys']).toMatchObject([{ key: 'k3' }]);
    expect((await get('/svc/org/keys?unused_since=9223372036854775807')).body['keys']).toHaveLength(3);
    expect((await get('/svc/org/keys?unused_since=-9223372036854775808')).body['keys']).toEqual([]);
  });

  it('keeps the last use when the clock goes back, and counts on the day of the clock', async () => {
    after(day);
    await verify('k1');
    await write();
    after(-day);
    await verify('k1');
    await write();
    expect(await useOf('k1')).toMatchObject({ lastUsedAt: '2026-02-01T12:00:00.000Z', usage: { allowed: 1 } });
    after(day);
    expect(await useOf('k1')).toMatchObject({ usage: { allowed: 2 } });
  });

  it('is not that of a key which is purged and imported again, and stays that of the organization', async () => {
    await verify('k1');
    await write();
    await verify('k1');
    await mutate('deleteOrgKey(keyID: "k1") { version }');
    after(60 * day);
    expect(await t.app.services.store.purge(t.clock.now)).toBe(1);
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    // Of the former key, noted before it was purged.
    await write();
    expect(await useOf('k1', 'lastUsedAt usage(from: "2026-01-01") { allowed }')).toEqual({
      lastUsedAt: null,
      usage: { allowed: 0 },
    });
    expect(
      dataOf(await t.graphql('{ organization(id: "acme") { keyUsage(from: "2026-01-01") { allowed } } }')),
    ).toMatchObject({ keyUsage: { allowed: 1 } });
    expect(await place.rows('SELECT * FROM key_days')).toEqual([]);
  });

  it('survives a change, a rotation, a deletion, and a restart', async () => {
    await verify('k1');
    await t.close();
    t = await startOwnApp(place.env);
    const used = { lastUsedAt: '2026-01-31T12:00:00.000Z' };
    const changed = await mutate('patchOrgKey(keyID: "k1", patch: { alias: "a" }) { orgKey { lastUsedAt } }');
    expect(dataOf(changed)).toMatchObject({ orgKey: used });
    const rotated = await mutate('rotateOrgKey(keyID: "k1") { keyID orgKey { lastUsedAt } }');
    expect(dataOf(rotated)).toMatchObject({ orgKey: used });
    await verify('k1');
    await verify(dataOf<{ keyID: string }>(rotated).keyID);
    await mutate('deleteOrgKey(keyID: "k1") { version }');
    await write();
    await mutate('restoreOrgKey(keyID: "k1") { version }');
    expect(await useOf('k1', 'lastUsedAt usage { allowed }')).toEqual({ ...used, usage: { allowed: 3 } });
  });

  it('lacks what a process that is killed has not written, of which the quota lacks nothing', async () => {
    await consume('k1');
    await write();
    await consume('k1', ', amount: 2');
    // Another process sees what is left if this one ends now.
    const other = await startOwnApp(place.env);
    const found = await other.graphql('{ orgKey(by: { keyID: "k1" }) { quota { used } usage { allowed } } }');
    expect(dataOf(found)).toEqual({ quota: { used: 3 }, usage: { allowed: 1 } });
  });

  it('of several processes adds up', async () => {
    const other = await startOwnApp(place.env);
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        (index % 2 === 0 ? t : other).graphql('mutation { verifyKey(keyID: "k2") { code } }'),
      ),
    );
    await Promise.all([t.app.flushUses(), other.app.flushUses()]);
    expect(await useOf('k2', 'usage { allowed }')).toEqual({ usage: { allowed: 40 } });
    expect((await useOfOrg('acme'))?.['keyUsage']).toMatchObject({ allowed: 40 });
  });

  it('is kept for 400 days', async () => {
    await verify('k1');
    await write();
    const { uses } = t.app.services;
    expect(await uses.purge(dayOf(t.clock.now.getTime()))).toBe(0);
    expect(await uses.purge(dayOf(t.clock.now.getTime()) + 1)).toBe(2);
    expect(await useOf('k1', 'lastUsedAt usage { allowed }')).toEqual({
      lastUsedAt: '2026-01-31T12:00:00.000Z',
      usage: { allowed: 0 },
    });
  });

  it('is not above 64 bits', async () => {
    const most = 2n ** 62n - 1n;
    for (let times = 0; times < 3; times += 1) await consume('k2', `, amount: "${most}"`);
    await write();
    await consume('k2', `, amount: "${most}"`);
    await write();
    const whole = String(2n ** 63n - 1n);
    expect(await useOf('k2', 'usage { allowed days { allowed } }')).toEqual({
      usage: { allowed: whole, days: [{ allowed: whole }] },
    });
    expect((await useOfOrg('acme'))?.['keyUsage']).toMatchObject({ allowed: whole });
  });
});

describe('the days of a use', () => {
  beforeEach(async () => {
    t = await startOwnApp();
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
  });

  it.each([
    ['from: "2026-1-1"', 'from', 'MALFORMED_DATE'],
    ['to: "2026-02-30"', 'to', 'MALFORMED_DATE'],
    ['to: "2026-01-31T00:00:00Z"', 'to', 'MALFORMED_DATE'],
    ['from: "+275760-09-13"', 'from', 'MALFORMED_DATE'],
    ['from: "+010000-01"', 'from', 'MALFORMED_DATE'],
    ['from: "2026-02-01"', 'from', 'OUT_OF_RANGE'],
    ['from: "0000-01-01", to: "9999-12-31"', 'from', 'OUT_OF_RANGE'],
    ['from: "2024-12-27"', 'from', 'OUT_OF_RANGE'],
  ])('%s is rejected with the path %s', async (args, path, code) => {
    const ofKey = await t.graphql(`{ orgKey(by: { keyID: "k1" }) { keyID usage(${args}) { allowed } } }`);
    expect(issuesOf(ofKey)).toMatchObject([`${path} ${code}`]);
    expect(ofKey.body['data']).toEqual({ orgKey: { keyID: 'k1', usage: null } });
    const ofOrg = await t.graphql(`{ organization(id: "acme") { keyUsage(${args}) { allowed } } }`);
    expect(issuesOf(ofOrg)).toMatchObject([`${path} ${code}`]);
    const query = args.replaceAll(': "', '=').replaceAll('", ', '&').replaceAll('"', '').replaceAll('+', '%2B');
    const rest = await get(`/svc/org/keys/k1/usage?${query}`);
    expect(rest.status).toBe(400);
    expect(rest.body['issues']).toMatchObject([{ path, code }]);
  });

  it('are 400 at most', async () => {
    const queries = createUseQueries(t.app.services.ports);
    expect(queries.useRangeOf({ from: '2024-12-28' })).toEqual({
      from: dayOf(Date.parse('2024-12-28')),
      to: dayOf(t.clock.now.getTime()),
    });
    expect((await get('/svc/org/keys/k1/usage?fro=2026-01-01')).text).toContain('did you mean `from`?');
    expect((await get('/svc/org/keys/k1/usage?from=2026-01-01&from=2026-01-01')).status).toBe(400);
    expect((await get('/svc/org/keys/none/usage')).status).toBe(404);
  });
});

describeEngines('the store of uses', (engine) => {
  it('fails a write whole, which the next one repeats', async () => {
    place = await makeOwnPlace(engine);
    t = await startApp(place.env);
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    await verify('k1');
    await place.run('ALTER TABLE org_days RENAME TO gone');
    await expect(write()).rejects.toThrow();
    await verify('k1');
    await place.run('ALTER TABLE gone RENAME TO org_days');
    await write();
    expect(await useOf('k1', 'usage { allowed }')).toEqual({ usage: { allowed: 2 } });
    expect((await useOfOrg('acme'))?.['keyUsage']).toMatchObject({ allowed: 2 });
    await t.close();
  });
});
