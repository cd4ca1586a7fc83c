import { beforeEach, describe, expect, it } from 'vitest';
import { codeOf, dataOf, issuesOf } from '../../support/responses.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { temporaryFolder } from '../../support/folder.js';
import { dateTime } from '../../support/date-time.js';
import { expectNoChange, stateOf } from '../../support/state.js';

const start = 1769860800;

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
});

const at = (seconds: number) => {
  t.clock.now = new Date((start + seconds) * 1000);
};
const importKey = (definition: object) => t.importKeys({ key_id: 'k1', org_id: 'acme', ...definition });

interface Figures {
  readonly max: unknown;
  readonly used: unknown;
  readonly remaining: unknown;
  readonly renewsAt: unknown;
}

interface Consumption {
  readonly allowed: boolean;
  readonly refusal: string | null;
  readonly quota: Figures;
}

const sendQuery = (amount?: unknown) =>
  t.graphql(
    'mutation ($n: Int64) { consumeOrgQuota(keyID: "k1", amount: $n) { allowed refusal quota { max used remaining renewsAt } } }',
    { n: amount },
  );
const consume = async (amount?: unknown) => dataOf<Consumption>(await sendQuery(amount));
const figures = async () =>
  dataOf<{ quota: Figures }>(
    await t.graphql('{ orgKey(by: { keyID: "k1" }) { quota { max used remaining renewsAt } } }'),
  ).quota;
const update = async (definition: object, query = '') => {
  expect((await t.update('k1', definition, query)).text).toContain('"status":"ok"');
};

describe('a quota that renews', () => {
  beforeEach(() => importKey({ quota_max: 10, quota_renewal_rate: 60 }));

  it('allows requests up to its maximum, and then rejects them', async () => {
    for (let used = 1; used <= 10; used += 1) {
      expect(await consume()).toStrictEqual({
        allowed: true,
        refusal: null,
        quota: { max: 10, used, remaining: 10 - used, renewsAt: dateTime(start + 60) },
      });
    }
    const full = {
      allowed: false,
      refusal: 'QUOTA_EXCEEDED',
      quota: { max: 10, used: 10, remaining: 0, renewsAt: dateTime(start + 60) },
    };
    for (const _ of [1, 2]) expect(await consume()).toStrictEqual(full);
  });

  it('renews at the second in which its period ends, and not before', async () => {
    await consume(10);
    at(59.999);
    expect((await consume()).allowed).toBe(false);
    at(60);
    expect(await figures()).toStrictEqual({ max: 10, used: 0, remaining: 10, renewsAt: dateTime(start + 120) });
    expect(await consume(10)).toMatchObject({ allowed: true, quota: { used: 10, renewsAt: dateTime(start + 120) } });
    expect((await consume()).allowed).toBe(false);
  });

  it('keeps its periods without drift, whenever the first request of a period arrives', async () => {
    for (const [seconds, ends] of [
      [61, 120],
      [179, 180],
      [180, 240],
      [299, 300],
      [1000, 1020],
      [86_399, 86_400],
    ] as const) {
      at(seconds);
      expect(await consume(10)).toMatchObject({ allowed: true, quota: { used: 10, renewsAt: dateTime(start + ends) } });
      at(ends - 1);
      expect((await consume()).allowed).toBe(false);
    }
  });

  it('shows the current period after several periods without traffic, and writes nothing for it', async () => {
    await consume(4);
    at(60 * 7 + 1);
    const renewed = { max: 10, used: 0, remaining: 10, renewsAt: dateTime(start + 480) };
    expect(await expectNoChange(t, figures)).toStrictEqual(renewed);
  });

  it('does not renew again when the clock goes back', async () => {
    at(61);
    await consume(10);
    at(30);
    expect(await consume()).toMatchObject({ allowed: false, quota: { used: 10, renewsAt: dateTime(start + 120) } });
  });

  it('keeps its count over a restart', async () => {
    const folder = await temporaryFolder();
    const allowed: unknown[] = [];
    for (const _ of [1, 2, 3, 4]) {
      await t.close();
      t = await startOwnApp({ KEYFRONT_DATA: folder });
      await importKey({ quota_max: 10, quota_renewal_rate: 60 });
      allowed.push((await consume(3)).allowed);
    }
    expect(allowed).toStrictEqual([true, true, true, false]);
  });
});

describe('the amount of a consumption', () => {
  it.each([undefined, null, 1, '1', 1.0])('is one request for %j', async (amount) => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 5 });
    expect(await consume(amount)).toMatchObject({ allowed: true, quota: { used: 1 } });
  });

  it('is consumed in full or not at all', async () => {
    await importKey({ quota_max: 10 });
    expect(await consume(8)).toMatchObject({ allowed: true, quota: { used: 8 } });
    expect(await consume(3)).toMatchObject({ allowed: false, quota: { used: 8, remaining: 2 } });
    expect(await consume(2)).toMatchObject({ allowed: true, quota: { used: 10, remaining: 0 } });
  });

  it.each([0, -1, '-9223372036854775808', '4611686018427387904', '9223372036854775807'])(
    'of %s is rejected, and nothing is consumed',
    async (amount) => {
      await importKey({ quota_max: 10 });
      const response = await expectNoChange(t, () => sendQuery(amount));
      expect([codeOf(response), issuesOf(response)]).toStrictEqual(['INVALID', ['amount OUT_OF_RANGE']]);
    },
  );

  it.each([1.5, 'x', true, [1, 2], {}, '9223372036854775808'])('is invalid if it is %j', async (amount) => {
    await importKey({ quota_max: 10 });
    expect(codeOf(await sendQuery(amount))).toBe('INVALID');
  });

  it('is counted exactly up to the largest maximum', async () => {
    await importKey({ quota_max: 9223372036854775807n, quota_remaining: 4611686018427387905n });
    const half = '4611686018427387903';
    expect(await consume(half)).toMatchObject({ allowed: true, quota: { used: '9223372036854775805', remaining: 2 } });
    expect(await consume(half)).toMatchObject({ allowed: false, quota: { remaining: 2 } });
    expect(await consume(2)).toMatchObject({ allowed: true, quota: { used: '9223372036854775807', remaining: 0 } });
    expect(await consume(1)).toMatchObject({ allowed: false });
  });
});

describe('a quota without a maximum', () => {
  it.each([
    [{}],
    [{ quota_max: 0 }],
    [{ quota_max: -1 }],
    [{ quota_max: null }],
    [{ quota_max: -1, quota_renewal_rate: 60 }],
  ])('(%j) allows everything and counts nothing', async (definition) => {
    await importKey(definition);
    for (const amount of [1, 1_000_000, '4611686018427387903']) {
      expect(await consume(amount)).toMatchObject({ allowed: true, quota: { max: null, used: 0, remaining: null } });
    }
  });
});

describe('a quota that does not renew', () => {
  it.each([[{}], [{ quota_renewal_rate: 0 }], [{ quota_renewal_rate: -1 }], [{ quota_renews: start + 5 }]])(
    '(%j) is exhausted for good',
    async (definition) => {
      await importKey({ quota_max: 3, ...definition });
      expect(await consume(3)).toMatchObject({ allowed: true, quota: { remaining: 0, renewsAt: null } });
      for (const seconds of [5, 60, 86_400 * 365]) {
        at(seconds);
        expect(await consume()).toMatchObject({
          allowed: false,
          refusal: 'QUOTA_EXCEEDED',
          quota: { renewsAt: null },
        });
      }
      await update({ quota_max: 3 }, '?reset_quota=1');
      expect(await consume(3)).toMatchObject({ allowed: true });
    },
  );
});

describe('an update of a key with a quota', () => {
  beforeEach(() => importKey({ quota_max: 10, quota_renewal_rate: 60 }));

  it('applies a lower maximum at once, and never shows less than nothing', async () => {
    await consume(8);
    await update({ quota_max: 5, quota_renewal_rate: 60 });
    expect(await figures()).toStrictEqual({ max: 5, used: 8, remaining: 0, renewsAt: dateTime(start + 60) });
    expect(await consume()).toMatchObject({ allowed: false, refusal: 'QUOTA_EXCEEDED' });
    await update({ quota_max: 9, quota_renewal_rate: 60 });
    expect(await consume()).toMatchObject({ allowed: true, quota: { used: 9, remaining: 0 } });
    at(60);
    expect(await consume(9)).toMatchObject({ allowed: true });
  });

  it('keeps the count and the end of the period', async () => {
    await consume(4);
    await update({ quota_max: 10, quota_renewal_rate: 3600, quota_remaining: 9, quota_renews: 5 });
    expect(await figures()).toStrictEqual({ max: 10, used: 4, remaining: 6, renewsAt: dateTime(start + 60) });
    at(60);
    expect(await figures()).toMatchObject({ used: 0, renewsAt: dateTime(start + 60 + 3600) });
  });

  it('does not restore a count that the end of its period has cleared', async () => {
    await consume(10);
    at(90);
    await update({ quota_max: 10 });
    expect(await figures()).toStrictEqual({ max: 10, used: 0, remaining: 10, renewsAt: null });
    expect(await consume(10)).toMatchObject({ allowed: true });
  });

  it('that gives an exhausted quota a period renews it at the end of that period', async () => {
    await update({ quota_max: 10 }, '?reset_quota=1');
    await consume(10);
    at(600);
    await update({ quota_max: 10, quota_renewal_rate: 60 });
    expect(await consume()).toMatchObject({ allowed: false, quota: { used: 10, renewsAt: dateTime(start + 660) } });
    at(659);
    expect(await consume()).toMatchObject({ allowed: false, quota: { used: 10, renewsAt: dateTime(start + 660) } });
    at(660);
    expect(await consume(10)).toMatchObject({ allowed: true, quota: { renewsAt: dateTime(start + 720) } });
  });

  it('accepts a period beyond the end of time, whose end no date can express', async () => {
    await update({ quota_max: 10, quota_renewal_rate: 9223372036854775807n });
    at(61);
    expect(await consume(10)).toMatchObject({ allowed: true, quota: { renewsAt: null } });
    expect(await figures()).toMatchObject({ used: 10, renewsAt: null });
    expect(
      (await t.update('k1', { quota_max: 1, quota_renewal_rate: 9223372036854775807n }, '?reset_quota=1')).status,
    ).toBe(400);
  });

  it('is independent of traffic: the version counts changes of the definition only', async () => {
    await Promise.all([consume(1), update({ quota_max: 11, quota_renewal_rate: 60 }), consume(1)]);
    const { key } = await stateOf(t, 'k1');
    expect([key?.version, key?.quota.used]).toStrictEqual([2, 2n]);
  });
});

describe('a key that may not be used', () => {
  it.each([
    [{ is_inactive: true }, 'INACTIVE'],
    [{ is_inactive: true, expires: start }, 'INACTIVE'],
    [{ expires: start }, 'EXPIRED'],
    [{ expires: 1 }, 'EXPIRED'],
  ])('(%j) is rejected as %s before its quota is read', async (definition, rejection) => {
    await importKey({ quota_max: 5, ...definition });
    expect(await consume(9)).toMatchObject({ allowed: false, refusal: rejection, quota: { used: 0, remaining: 5 } });
  });

  it.each([[{ expires: start + 1 }], [{ expires: 0 }], [{ expires: -1 }], [{ is_inactive: false }]])(
    'accepts requests with %j',
    async (definition) => {
      await importKey({ quota_max: 5, ...definition });
      expect(await consume(5)).toMatchObject({ allowed: true });
    },
  );
});

describe('many concurrent consumers', () => {
  it('get exactly the maximum', async () => {
    await importKey({ quota_max: 25, quota_renewal_rate: 60 });
    const responses = await Promise.all(Array.from({ length: 60 }, () => consume(1)));
    expect(responses.filter(({ allowed }) => allowed)).toHaveLength(25);
    expect(await figures()).toMatchObject({ used: 25, remaining: 0 });
  });
});
