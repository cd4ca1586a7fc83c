import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codeOf, dataOf } from '../../support/responses.js';
import { dateTime } from '../../support/date-time.js';
import { startOwnApp, type TestApp } from '../../support/app.js';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
});

const at = (seconds: number) => {
  t.clock.now = new Date(seconds * 1000);
};
const unix = (text: string) => Date.parse(text) / 1000;
const consume = async () =>
  dataOf<{ allowed: boolean; refusal: unknown; quota: { renewsAt: unknown } }>(
    await t.graphql('mutation { consumeOrgQuota(keyID: "k1") { allowed refusal quota { renewsAt } } }'),
  );
const state = async () => dataOf<{ state: string }>(await t.graphql('{ orgKey(by: { keyID: "k1" }) { state } }')).state;

/** Ends of counters, days that are longer or shorter in some places, and the last second that a year of four digits has. */
const moments = {
  'the end of 31 bits, in 2038': 2 ** 31,
  'the end of 32 bits, in 2106': 2 ** 32,
  'a leap second, of which Unix time knows nothing': unix('2017-01-01T00:00:00Z'),
  'the day that is short in Berlin': unix('2026-03-29T01:00:00Z'),
  'the day that is long in Berlin': unix('2026-10-25T01:00:00Z'),
  'the day that is short by half an hour on Lord Howe Island': unix('2026-10-03T15:30:00Z'),
  'the 29th of February': unix('2028-02-29T00:00:00Z'),
  'the turn of a year': unix('2027-01-01T00:00:00Z'),
  'the end of years of four digits': 253402300799,
};
/** How a time is returned: null after the year 9999. */
const end = (seconds: number) => (seconds > 253402300799 ? null : dateTime(seconds));
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia'];

describe.each(Object.entries(moments))('at %s', (_what, moment) => {
  it('O-07 accepts a key until the second in which it expires, and rejects it in that second', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', expires: moment });
    for (const before of [moment - 86_400, moment - 1, moment - 0.001]) {
      at(before);
      expect([(await consume()).allowed, await state()]).toEqual([true, 'ACTIVE']);
    }
    for (const after of [moment, moment + 0.5, moment + 1]) {
      at(after);
      expect([(await consume()).refusal, await state()]).toEqual(['EXPIRED', 'EXPIRED']);
    }
  });

  it('accepts a credential until the time of its expiry, and rejects it at that time', async () => {
    const { secret } = await t.issue('management', { expires: new Date(moment * 1000) });
    const preview = async () => (await t.preview({}, { authorization: `Bearer ${secret}` })).status;
    at(moment - 0.001);
    expect(await preview()).toBe(200);
    at(moment);
    expect(await preview()).toBe(401);
  });

  it('renews a quota after its seconds, independent of the calendar', async () => {
    const day = 86_400;
    at(moment - day);
    await t.importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 1, quota_renewal_rate: day });
    expect(await consume()).toMatchObject({ allowed: true, quota: { renewsAt: end(moment) } });
    at(moment - 0.001);
    expect((await consume()).allowed).toBe(false);
    at(moment);
    expect(await consume()).toMatchObject({ allowed: true, quota: { renewsAt: end(moment + day) } });
    at(moment + 1);
    expect((await consume()).allowed).toBe(false);
  });

  it('stores the time of an update in seconds, and dates in UTC', async () => {
    at(moment);
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    at(moment + 2);
    await t.update('k1', { alias: 'x' });
    const { definition } = dataOf<{ definition: { lastUpdated: string; dateCreated: string } }>(
      await t.graphql('{ orgKey(by: { keyID: "k1" }) { definition { lastUpdated dateCreated } } }'),
    );
    expect(definition.lastUpdated).toBe(String(moment + 2));
    expect(definition.dateCreated).toBe(new Date(moment * 1000).toISOString());
  });
});

describe('the time zone of the machine', () => {
  const zone = process.env['TZ'];
  afterEach(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });

  it('O-07 changes no response', async () => {
    const responses = new Map<string, string>();
    for (const place of zones) {
      process.env['TZ'] = place;
      const own = await startOwnApp();
      own.clock.now = new Date('2026-03-29T00:59:59Z');
      await own.importKeys({
        key_id: 'k1',
        org_id: 'acme',
        quota_max: 9,
        quota_renewal_rate: 3600,
        expires: unix('2026-03-29T02:30:00Z'),
      });
      let text = '';
      for (const moment of ['00:59:59', '01:00:00', '01:59:59', '02:00:00', '02:29:59', '02:30:00', '23:59:59']) {
        own.clock.now = new Date(`2026-03-29T${moment}Z`);
        text += (
          await own.graphql('mutation { consumeOrgQuota(keyID: "k1") { allowed refusal quota { renewsAt used } } }')
        ).text;
        text += (
          await own.graphql(
            'mutation { updateOrgKey(keyID: "k1", input: { quotaMax: 9, dateCreated: "2026-03-29T02:30:00+01:00" }, resetQuota: true) { orgKey { definition { lastUpdated dateCreated quotaRenews } } warnings { code } } }',
          )
        ).text;
        text += (
          await own.graphql(
            '{ previewOrgKeyUpdate(keyID: "k1", input: { quotaMax: 5, quotaRenewalRate: 86400 }, resetQuota: true) { quotaEffect { summary } } }',
          )
        ).text;
      }
      expect(new Date().getTimezoneOffset() === 0 || place !== 'UTC').toBe(true);
      responses.set(place, text);
    }
    expect(new Set(responses.values()).size).toBe(1);
    expect([...responses.values()][0]).toContain('renews at 2026-03-30T');
  });
});

describe('a clock that goes back', () => {
  it('O-07 accepts no revoked credential, and renews no quota early', async () => {
    const { id, secret } = await t.issue('management');
    at(unix('2026-02-01T00:00:00Z'));
    await t.app.services.credentials.revoke(id, t.clock.now);
    at(unix('2025-01-01T00:00:00Z'));
    expect((await t.preview({}, { authorization: `Bearer ${secret}` })).status).toBe(401);

    at(unix('2026-02-01T00:00:00Z'));
    await t.importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 1, quota_renewal_rate: 60 });
    expect((await consume()).allowed).toBe(true);
    for (const back of ['2026-01-31T23:59:00Z', '2025-02-01T00:00:00Z', '1970-01-01T00:00:00Z']) {
      at(unix(back));
      expect((await consume()).allowed).toBe(false);
    }
  });

  it('C-05 allows updates after a year back, each with a later timestamp than the one before', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    let before = 0;
    for (const moment of [
      '2026-06-01T00:00:00Z',
      '2025-06-01T00:00:00Z',
      '1970-01-01T00:00:00Z',
      '2026-06-01T00:00:01Z',
    ]) {
      at(unix(moment));
      const response = await t.graphql(
        `mutation { updateOrgKey(keyID: "k1", input: { alias: "${moment}" }) { orgKey { definition { lastUpdated } } } }`,
      );
      expect(codeOf(response)).toBeUndefined();
      const after = Number(
        dataOf<{ orgKey: { definition: { lastUpdated: string } } }>(response).orgKey.definition.lastUpdated,
      );
      expect(after).toBeGreaterThan(before);
      before = after;
    }
  });

  it('shows an expired key as valid again, because its expiry is in the future of that clock', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', expires: unix('2026-02-01T00:00:00Z') });
    at(unix('2026-02-01T00:00:00Z'));
    expect(await state()).toBe('EXPIRED');
    at(unix('2026-01-31T23:59:59Z'));
    expect(await state()).toBe('ACTIVE');
  });
});
