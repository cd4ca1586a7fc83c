import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { startApp, type TestApp } from '../../support/app.js';
import { jsonLines, makeOwnCommandLine } from '../../support/cli.js';
import { dateTime } from '../../support/date-time.js';
import { describeConfigurations, type TestEngine } from '../../support/engines.js';
import { importPolicies, removePolicy } from '../../support/policies.js';
import { dataOf } from '../../support/responses.js';

/*
 * The quota of a key whose policy governs it. Every operation uses the maximum and the period of the policy, in each place
 * where a counter can be.
 */

const start = 1769860800;

/** Its own quota is 3 requests an hour; the policy's is 1,000 a minute. */
const key = {
  key_id: 'k',
  org_id: 'acme',
  quota_max: 3,
  quota_renewal_rate: 3600,
  apply_policies: ['gold'],
  access_rights: { a: {} },
};
const { key_id: _id, ...definition } = key;
const gold = { policy_id: 'gold', governs: ['quota'], quota_max: 1000, quota_renewal_rate: 60 };

describeConfigurations('the effective quota', (engine: TestEngine) => {
  let t: TestApp;
  let env: Record<string, string>;
  beforeEach(async () => {
    const place = await engine.make();
    ({ env } = place);
    t = await startApp(env);
    onTestFinished(async () => {
      await t.close();
      await place.remove();
    });
    await putPolicy(gold);
  });

  const putPolicy = (body: object) => importPolicies(t, body);
  const moveTo = (seconds: number) => (t.clock.now = new Date((start + seconds) * 1000));
  const figures = 'max used remaining renewsAt';
  const consume = async (amount: number) =>
    dataOf<{ allowed: boolean; quota: object }>(
      await t.graphql(`mutation { consumeOrgQuota(keyID: "k", amount: ${amount}) { allowed quota { ${figures} } } }`),
    );
  const quota = async () =>
    dataOf<{ quota: object }>(await t.graphql(`{ orgKey(by: { keyID: "k" }) { quota { ${figures} } } }`)).quota;
  const change = async (operation: string) =>
    dataOf<{ quotaEffect: { before: object; after: object } }>(
      await t.graphql(`${operation} { quotaEffect { before { ${figures} } after { ${figures} } } }`.concat(' }')),
    ).quotaEffect;

  it('is consumed to its maximum, in each period, and returned by both APIs', async () => {
    await t.importKeys(key);
    expect(await consume(990)).toEqual({
      allowed: true,
      quota: { max: 1000, used: 990, remaining: 10, renewsAt: dateTime(start + 60) },
    });
    for (let used = 991; used <= 1000; used += 1) expect((await consume(1)).allowed).toBe(true);
    expect((await consume(1)).allowed).toBe(false);
    const full = { max: 1000, used: 1000, remaining: 0, renewsAt: dateTime(start + 60) };
    expect(await quota()).toEqual(full);
    const { body } = await t.send('/svc/org/keys/k', { headers: t.credentials });
    expect(body['quota']).toEqual({ used: 1000, remaining: 0, renews_at: start + 60 });
    moveTo(60);
    expect(await consume(1)).toMatchObject({ allowed: true, quota: { used: 1, renewsAt: dateTime(start + 120) } });
  });

  it('is the effect of each change and of its dry run', async () => {
    await t.importKeys(key);
    await consume(500);
    const before = { max: 1000, used: 500, remaining: 500, renewsAt: dateTime(start + 60) };
    const same = { before, after: before };
    const patch = 'OrgKey(keyID: "k", patch: { quotaMax: 1, quotaRenewalRate: 5 })';
    expect(await change('{ previewOrgKeyUpdate(keyID: "k", input: { applyPolicies: ["gold"] })')).toEqual(same);
    expect(await change(`{ previewOrgKeyPatch(keyID: "k", patch: { quotaMax: 1, quotaRenewalRate: 5 })`)).toEqual(same);
    expect(await change(`mutation { patch${patch}`)).toEqual(same);
    expect(await change('mutation { revertOrgKey(keyID: "k", toVersion: 1)')).toEqual(same);
    expect(await change('mutation { deleteOrgKey(keyID: "k")')).toEqual(same);
    expect(await change('mutation { restoreOrgKey(keyID: "k")')).toEqual(same);
    expect(await quota()).toEqual(before);
    // Without the policy, the quota of the key itself counts.
    const own = { max: 3, used: 500, remaining: 0, renewsAt: dateTime(start + 60) };
    const without = 'patch: { applyPolicies: null }';
    expect(await change(`{ previewOrgKeyPatch(keyID: "k", ${without})`)).toEqual({ before, after: own });
    expect(await change(`mutation { patchOrgKey(keyID: "k", ${without})`)).toEqual({ before, after: own });
    moveTo(60);
    expect(await quota()).toMatchObject({ used: 0, renewsAt: dateTime(start + 3660) });
  });

  it('is what a reset resets to', async () => {
    await t.importKeys(key);
    await consume(700);
    moveTo(30);
    const { headers } = await t.update('k', definition, '?reset_quota=1');
    expect(headers.get('quota-reset')).toBe('applied');
    expect(await quota()).toEqual({ max: 1000, used: 0, remaining: 1000, renewsAt: dateTime(start + 90) });
    const stored = await t.graphql(
      '{ orgKey(by: { keyID: "k" }) { definition { quotaMax quotaRenewalRate quotaRemaining quotaRenews } } }',
    );
    expect(stored.body).toMatchObject({
      data: {
        orgKey: {
          definition: { quotaMax: 3, quotaRenewalRate: 3600, quotaRemaining: 1000, quotaRenews: start + 90 },
        },
      },
    });
    await consume(5);
    await t.graphql('mutation { resetOrgQuotas(filter: {}, dryRun: false) { items { error { message } } } }');
    expect(await quota()).toMatchObject({ used: 0, max: 1000 });
    moveTo(90);
    expect((await consume(1000)).allowed).toBe(true);
  });

  it('is that of a new key, whose remaining requests count from the maximum of the policy', async () => {
    const input =
      '{ orgID: "acme", quotaMax: 3, quotaRemaining: 400, quotaRenewalRate: 3600, applyPolicies: ["gold"] }';
    const expected = { max: 1000, used: 600, remaining: 400, renewsAt: dateTime(start + 60) };
    expect(await change(`mutation { createOrgKey(keyID: "k", input: ${input})`)).toEqual({
      before: expected,
      after: expected,
    });
    expect(await quota()).toEqual(expected);
  });

  it('is summed up for an organization', async () => {
    await t.importKeys(
      key,
      { ...key, key_id: 'own', apply_policies: [], quota_remaining: 1 },
      { ...key, key_id: 'other', org_id: 'globex' },
      { key_id: 'unlimited', org_id: 'acme' },
      { key_id: 'full', org_id: 'acme', apply_policies: ['gold'], quota_remaining: 0 },
    );
    await consume(10);
    const sums = async () => {
      const fields = 'quotaSummary { keyCount limitedKeys exhaustedKeys max used remaining }';
      const response = await t.graphql(`{ organization(id: "acme") { ${fields} } }`);
      return dataOf<{ quotaSummary: object }>(response).quotaSummary;
    };
    expect(await sums()).toEqual({
      keyCount: 4,
      limitedKeys: 3,
      exhaustedKeys: 1,
      max: 2003,
      used: 1012,
      remaining: 991,
    });
    await removePolicy(t, 'gold');
    expect(await sums()).toMatchObject({ limitedKeys: 2, max: 6 });
  });

  it('follows the policy at once, with the requests that are counted', async () => {
    await t.importKeys(key);
    await consume(500);
    await putPolicy({ ...gold, quota_max: 501 });
    expect((await consume(1)).allowed).toBe(true);
    expect((await consume(1)).allowed).toBe(false);
    await putPolicy({ ...gold, quota_max: -1 });
    expect(await quota()).toEqual({ max: null, used: 501, remaining: null, renewsAt: null });
    expect((await consume(9)).allowed).toBe(true);
    await removePolicy(t, 'gold');
    expect(await quota()).toMatchObject({ max: 3, used: 501, remaining: 0 });
  });

  it('is what an export contains beside the limits of the key itself, so that an import continues the count', async () => {
    // The commands use the clock of the machine.
    const long = { ...gold, quota_renewal_rate: 1e9 };
    await putPolicy(long);
    await t.importKeys(key);
    await consume(500);
    await t.close();
    const c = await makeOwnCommandLine();
    const { out } = await c.keyfront(['keys', 'export'], env);
    const line = { quota_max: 3, quota_renewal_rate: 3600, quota_remaining: 500, quota_renews: start + 1e9 };
    expect(jsonLines(out)).toMatchObject([line]);
    await c.create();
    await c.keyfront(['policies', 'import', await c.file('policies.jsonl', JSON.stringify(long))]);
    expect(await c.keyfront(['keys', 'import', await c.file('keys.jsonl', out)])).toMatchObject({ code: 0 });
    expect(jsonLines((await c.keyfront(['keys', 'export'])).out)).toMatchObject([line]);
  });
});
