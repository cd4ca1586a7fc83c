import { beforeEach, describe, expect, it } from 'vitest';
import type { KeyNotice } from '../../../src/keys/notices.js';
import { createQuotaNotices } from '../../../src/keys/quota-notices.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { describeConfigurations, makeOwnPlace, type EnginePlace } from '../../support/engines.js';
import { aKey, hashOf } from '../../support/factories.js';
import { allEvents } from '../../support/feed.js';
import { dataOf } from '../../support/responses.js';

const day = 86_400;

describeConfigurations('notices of a quota', (engine) => {
  let place: EnginePlace;
  let t: TestApp;
  beforeEach(async () => {
    place = await makeOwnPlace(engine);
    t = await startOwnApp(place.env);
  });

  const limited = { org_id: 'acme', quota_max: 10, quota_renewal_rate: day, monitor: { trigger_limits: [80, 50] } };
  const consume = async (amount: number, service = t) =>
    dataOf<{ allowed: boolean }>(
      await service.graphql(`mutation { consumeOrgQuota(keyID: "k1", amount: ${amount}) { allowed } }`),
    ).allowed;
  const verify = async () =>
    dataOf<{ code: string }>(await t.graphql('mutation { verifyKey(keyID: "k1") { code } }')).code;
  const flush = async (service = t) => (await service.app.services.ports.quotaNotices?.flush()) ?? -1;
  const notices = async (): Promise<KeyNotice[]> => (await allEvents(t, place)).flatMap(({ notice }) => notice ?? []);
  const texts = async () =>
    (await notices()).map(({ kind, threshold, quotaUsed }) => `${kind} ${threshold ?? ''} at ${quotaUsed}`);

  it('come once for each threshold of each period, when it is reached', async () => {
    await t.importKeys({ key_id: 'k1', ...limited });
    await consume(4);
    expect(await flush()).toBe(0);
    await consume(1);
    expect(await flush()).toBe(1);
    await consume(1);
    expect(await flush()).toBe(0);
    expect(await verify()).toBe('VALID');
    expect(await verify()).toBe('VALID');
    expect(await flush()).toBe(1);
    expect(await texts()).toEqual(['quota_threshold 50 at 5', 'quota_threshold 80 at 8']);
    await consume(2);
    expect(await consume(1)).toBe(false);
    expect(await flush()).toBe(1);
    expect(await verify()).not.toBe('VALID');
    expect(await flush()).toBe(0);
    const [, , exhausted] = await notices();
    expect(exhausted).toMatchObject({
      kind: 'quota_exhausted',
      keyHash: hashOf('k1'),
      orgID: 'acme',
      version: 1,
      quotaUsed: 10n,
      quotaMax: 10n,
      quotaRenewsAt: BigInt(t.clock.now.getTime() / 1000 + day),
    });
    t.clock.now = new Date(t.clock.now.getTime() + day * 1000);
    // Two requests before they are recorded.
    await consume(5);
    await consume(5);
    expect(await flush()).toBe(3);
    expect((await texts()).slice(3).toSorted()).toEqual([
      'quota_exhausted  at 10',
      'quota_threshold 50 at 5',
      'quota_threshold 80 at 10',
    ]);
  });

  it('are noted again by the next request when a process was killed before it recorded them', async () => {
    await t.importKeys({ key_id: 'k1', ...limited });
    await consume(6);
    // Another process does not know what the first one has in memory.
    const other = await startOwnApp(place.env);
    other.clock.now = t.clock.now;
    await consume(1, other);
    expect(await flush(other)).toBe(1);
    expect(await flush()).toBe(0);
    expect(await texts()).toEqual(['quota_threshold 50 at 7']);
  });

  it('come for a rejected request too, and not for keys without a limit', async () => {
    await t.importKeys({ key_id: 'k1', ...limited, quota_max: 1 });
    await consume(1);
    const other = await startOwnApp(place.env);
    other.clock.now = t.clock.now;
    expect(await consume(1, other)).toBe(false);
    expect(await flush(other)).toBe(3);
    expect(await flush()).toBe(0);
    await t.importKeys({ key_id: 'free', org_id: 'acme', quota_max: -1, monitor: { trigger_limits: [1] } });
    await t.graphql('mutation { consumeOrgQuota(keyID: "free", amount: 5) { allowed } }');
    expect(await flush()).toBe(0);
  });

  it('come with a count that was read: of external counters, a rejected request reads none', async () => {
    await t.importKeys({ key_id: 'k1', ...limited, quota_remaining: 4 });
    await consume(1);
    const other = await startOwnApp(place.env);
    other.clock.now = t.clock.now;
    const denied = await other.graphql('mutation { verifyKey(keyID: "k1", api: "none") { code } }');
    expect(dataOf(denied)).toEqual({ code: 'NO_ACCESS' });
    await flush(other);
    const isExternal = t.app.services.ports.externalCounters !== undefined;
    expect(await texts()).toEqual(isExternal ? [] : ['quota_threshold 50 at 7']);
  });

  it('do not change the key, and are not recorded for periods below an hour', async () => {
    await t.importKeys({ key_id: 'k1', ...limited, quota_renewal_rate: 3599 });
    await consume(10);
    expect(await flush()).toBe(0);
    const patched = await t.graphql(
      'mutation { patchOrgKey(keyID: "k1", patch: { quotaRenewalRate: 3600 }, expectedVersion: 1) { version } }',
    );
    expect(dataOf(patched)).toEqual({ version: 2 });
    expect(await consume(1)).toBe(false);
    expect(await flush()).toBe(3);
    expect(dataOf(await t.graphql('{ orgKey(by: { keyID: "k1" }) { version } }'))).toEqual({ version: 2 });
  });
});

describe('the notices of quotas that wait', () => {
  it('are bounded, and stay when they could not be recorded', async () => {
    let isFailing = true;
    const recorded: string[] = [];
    const { note, flush } = createQuotaNotices({
      addNotices: (notices) => {
        if (isFailing) return Promise.reject(new Error('no storage'));
        recorded.push(...notices.map(({ keyHash }) => keyHash));
        return Promise.resolve(notices.length);
      },
    });
    const at = new Date(0);
    const figures = { max: 1n, used: 1n, remaining: 0n, renewsAt: undefined };
    for (let index = 0; index < 10_100; index += 1) note(aKey(`k${index}`), figures, at);
    await expect(flush()).rejects.toThrow('no storage');
    isFailing = false;
    let total = 0;
    for (let added = -1; added !== 0; total += added) added = await flush();
    expect(total).toBe(10_000);
    expect(new Set(recorded).size).toBe(10_000);
    // What did not wait is noted by the next request.
    note(aKey('k10050'), figures, at);
    expect(await flush()).toBe(1);
  });
});
