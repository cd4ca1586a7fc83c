import { describe, expect, it } from 'vitest';
import { carryOverQuota, consume, quotaFigures, resetQuota } from '../../../src/keys/quota/quota.js';
import { changedQuota, quotaChangeOf } from '../../../src/keys/quota/quota-change.js';
import { withLiveQuotas, type OrgCounter } from '../../../src/keys/quota/external-counters.js';
import { summarizeQuotas } from '../../../src/keys/quota/quota-summary.js';
import type { QuotaState } from '../../../src/keys/key.js';
import { maxInt64 } from '../../../src/lib/int64.js';
import { aKey, hashOf } from '../../support/factories.js';

const now = new Date('2026-11-20T12:00:00Z');
const seconds = BigInt(now.getTime() / 1000);
const key = (quota: QuotaState, definition: { quotaMax?: bigint; quotaRenewalRate?: bigint }) =>
  aKey(1, { definition, quota });

describe('quotaFigures', () => {
  it.each([
    ['the period ends in the next second', seconds + 1n, 7n, seconds + 1n],
    ['the period ends now', seconds, 0n, seconds + 60n],
    ['two periods and a second have ended', seconds - 121n, 0n, seconds + 59n],
    ['no period has started', undefined, 7n, seconds + 60n],
  ])('counts the requests of the current period when %s', (_, renews, used, renewsAt) => {
    const stored = key({ used: 7n, renews }, { quotaMax: 10n, quotaRenewalRate: 60n });
    expect(quotaFigures(stored, now)).toStrictEqual({ max: 10n, used, remaining: 10n - used, renewsAt });
  });

  it('returns no end of a period beyond the largest 64-bit timestamp', () => {
    const stored = key({ used: 7n, renews: undefined }, { quotaMax: 10n, quotaRenewalRate: maxInt64 });
    expect(quotaFigures(stored, now).renewsAt).toBe(maxInt64);
  });

  it('has no negative rest when the maximum was lowered', () => {
    expect(quotaFigures(key({ used: 7n, renews: undefined }, { quotaMax: 5n }), now).remaining).toBe(0n);
  });
});

describe('carryOverQuota', () => {
  it.each([
    ['keeps the counter of a quota that does not renew', undefined, 0n, undefined],
    ['keeps the end of a period that has not ended', seconds + 1n, 60n, seconds + 1n],
    ['starts a period when the one before ends now', seconds, 60n, seconds + 60n],
    ['starts a period when there was none', undefined, 60n, seconds + 60n],
  ])('%s', (_, renews, quotaRenewalRate, expected) => {
    const carried = carryOverQuota(key({ used: 7n, renews }, {}), { quotaRenewalRate }, now);
    expect(carried).toStrictEqual({ used: 7n, renews: expected });
  });
});

describe('resetQuota', () => {
  it('starts a period, or keeps the end of the period of a quota that does not renew', () => {
    expect(resetQuota({ used: 7n, renews: 5n }, 60n, seconds)).toStrictEqual({ used: 0n, renews: seconds + 60n });
    expect(resetQuota({ used: 7n, renews: 5n }, 0n, seconds)).toStrictEqual({ used: 0n, renews: 5n });
  });
});

describe('quotaChangeOf', () => {
  it.each([
    ['changes nothing without a reset, another period or a new end', [60n, 1n], [60n, 1n], false, undefined],
    ['changes nothing between quotas that do not renew', [0n, 1n], [-1n, 1n], false, undefined],
    ['keeps the count when the length of the period changes', [60n, 1n], [90n, 1n], false, [7n, 1n]],
    ['keeps the count when the key starts its next period first', [60n, 1n], [60n, 61n], false, [7n, 1n]],
    ['begins the count of a period that followed the last one', [60n, -1n], [90n, -1n], false, [0n, 59n]],
    ['starts a period for a quota that did not renew', [0n, -5n], [60n, 60n], false, [7n, 60n]],
    ['resets the count', [60n, 1n], [60n, 1n], true, [0n, 60n]],
  ] as const)('%s', (_, [periodBefore, endBefore], [periodAfter, endAfter], isReset, expected) => {
    const quotaOf = (used: bigint, end: bigint) => ({ used, renews: seconds + end });
    const before = key(quotaOf(0n, endBefore), { quotaRenewalRate: periodBefore });
    const after = key(quotaOf(0n, endAfter), { quotaRenewalRate: periodAfter });
    const change = quotaChangeOf(before, after, now, isReset);
    expect(change && changedQuota(change, quotaOf(7n, endBefore))).toStrictEqual(
      expected && quotaOf(expected[0], expected[1]),
    );
  });
});

describe('consume', () => {
  it.each([
    [3n, true, 10n],
    [4n, false, 7n],
  ])('of %s requests with 7 of 10 used: allowed is %s', (amount, allowed, used) => {
    const { next, result } = consume(key({ used: 7n, renews: undefined }, { quotaMax: 10n }), amount, now);
    expect(result).toMatchObject({ allowed, figures: { used, remaining: 10n - used } });
    expect(next?.used).toBe(allowed ? used : undefined);
  });

  it('does not count without a maximum', () => {
    const { next, result } = consume(key({ used: 7n, renews: undefined }, { quotaMax: -1n }), 100n, now);
    expect([next, result.allowed]).toStrictEqual([undefined, true]);
  });
});

/** Counters outside of the keys, by hash. */
const externalCounters = (used: Record<string, bigint>) => ({
  readCounters: (keyHashes: readonly string[]) =>
    Promise.resolve(
      keyHashes.map((keyHash) => ({ quota }: { quota: QuotaState }) => ({ ...quota, used: used[keyHash] ?? 0n })),
    ),
});

describe('withLiveQuotas', () => {
  const keys = [aKey('a', { quota: { used: 1n, renews: 5n } }), aKey('b'), aKey('c')];

  it('returns keys that contain their counters without another read', async () => {
    expect(await withLiveQuotas(undefined, keys)).toBe(keys);
  });

  it('returns the keys in their order with their external counters', async () => {
    const counters = externalCounters({ [hashOf('a')]: 7n, [hashOf('c')]: 9n });
    expect(await withLiveQuotas(counters, keys)).toStrictEqual([
      aKey('a', { quota: { used: 7n, renews: 5n } }),
      aKey('b'),
      aKey('c', { quota: { used: 9n, renews: undefined } }),
    ]);
  });
});

describe('summarizeQuotas', () => {
  const counter = (name: string, orgID: string, used: bigint, definition: OrgCounter['definition']): OrgCounter => ({
    ...aKey(name, { orgID, definition, quota: { used, renews: undefined } }),
  });
  const counters = (...pages: OrgCounter[][]) => ({
    policies: new Map(),
    store: {
      counters: async function* () {
        yield* pages;
      },
    },
  });
  const none = { keys: 0, limitedKeys: 0, exhaustedKeys: 0, max: 0n, used: 0n, remaining: 0n };

  it('adds up the limited keys of each organization, in the order of the organizations', async () => {
    const pages = [
      [counter('a', 'acme', 4n, { quotaMax: 10n }), counter('b', 'globex', 3n, { quotaMax: 3n })],
      [
        counter('c', 'acme', 9n, { quotaMax: 5n }),
        counter('d', 'acme', 8n, {}),
        counter('e', 'acme', 0n, { quotaMax: 1n }),
      ],
    ];
    expect(await summarizeQuotas(counters(...pages), ['globex', 'initech', 'acme'], now)).toStrictEqual([
      { keys: 1, limitedKeys: 1, exhaustedKeys: 1, max: 3n, used: 3n, remaining: 0n },
      none,
      { keys: 4, limitedKeys: 3, exhaustedKeys: 1, max: 16n, used: 13n, remaining: 7n },
    ]);
  });

  it('adds up the external counters of the current period', async () => {
    const page = [counter('a', 'acme', 0n, { quotaMax: 10n }), counter('b', 'acme', 0n, { quotaMax: 10n })];
    const external = externalCounters({ [hashOf('a')]: 4n, [hashOf('b')]: 1n });
    const quotas = { ...counters(page), externalCounters: external };
    expect(await summarizeQuotas(quotas, ['acme'], now)).toMatchObject([{ used: 5n, remaining: 15n }]);
    const renewed = {
      ...counter('a', 'acme', 4n, { quotaMax: 10n, quotaRenewalRate: 60n }),
      quota: { used: 4n, renews: 1n },
    };
    expect(await summarizeQuotas(counters([renewed]), ['acme'], now)).toMatchObject([{ used: 0n, remaining: 10n }]);
  });

  it('limits each total to the largest 64-bit integer', async () => {
    const half = maxInt64 / 2n + 1n;
    const full = [
      counter('a', 'acme', half, { quotaMax: maxInt64 }),
      counter('b', 'acme', half, { quotaMax: maxInt64 }),
    ];
    const total = { max: maxInt64, used: maxInt64, remaining: maxInt64 - 1n };
    expect(await summarizeQuotas(counters(full), ['acme'], now)).toMatchObject([total]);
    const unused = full.map((one) => ({ ...one, quota: { used: 0n, renews: undefined } }));
    expect(await summarizeQuotas(counters(unused), ['acme'], now)).toMatchObject([{ used: 0n, remaining: maxInt64 }]);
  });
});

describe('consume of a key that may not be used', () => {
  it.each([
    ['INACTIVE', { isInactive: true, expires: 1n }, {}],
    ['EXPIRED', { expires: seconds }, {}],
    ['EXPIRED', { expires: 1n }, {}],
    [undefined, { isInactive: false, expires: seconds + 1n }, {}],
    [undefined, { expires: 0n }, {}],
    // The command rejects deleted keys before.
    [undefined, {}, { deleted: now }],
  ] as const)('returns the rejection %s for %o', (rejection, definition, changes) => {
    const stored = aKey(1, { definition: { ...definition, quotaMax: 5n }, ...changes });
    expect(consume(stored, 1n, now).result).toMatchObject({ allowed: rejection === undefined, rejection });
  });
});
