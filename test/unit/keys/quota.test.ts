import { describe, expect, it } from 'vitest';
import { carryOverQuota, consume, quotaFigures, resetQuota } from '../../../src/keys/quota/quota.js';
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
