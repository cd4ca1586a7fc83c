import { describe, expect, it } from 'vitest';
import { carryOverQuota, consume, quotaFigures, resetQuota } from '../../../src/keys/quota/quota.js';
import { changedQuota, quotaChangeOf } from '../../../src/keys/quota/quota-change.js';
import type { QuotaState } from '../../../src/keys/key.js';
import { maxInt64 } from '../../../src/lib/int64.js';
import { aKey } from '../../support/factories.js';

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
