import { carryOverQuota, resetQuota } from './quota.js';
import type { QuotaState, StoredKey } from '../key.js';
import { unixSeconds } from '../../lib/int64.js';

/**
 * What a change of a key is to do to a counter that stands elsewhere. It is written with the key and carried out after it,
 * once or more often: the two dates tell whether that has been done.
 */
export interface QuotaChange {
  readonly keyHash: string;
  /** Which key it was, where another of the same hash has been purged. */
  readonly dateCreated: string;
  /** The key's, after the change: strictly increasing, and so the order of changes. */
  readonly lastUpdated: bigint;
  readonly at: Date;
  /** Whether the quota begins anew; otherwise it goes on in another period. */
  readonly isReset: boolean;
  /** Seconds; 0 or less for a quota that does not renew. */
  readonly periodBefore: bigint;
  readonly periodAfter: bigint;
}

/** What a change of a key is to do to its counter; undefined where that is nothing. */
export function quotaChangeOf(
  before: StoredKey,
  after: StoredKey,
  at: Date,
  isReset: boolean,
): QuotaChange | undefined {
  const [periodBefore, periodAfter] = [periodOf(before), periodOf(after)];
  // A change of the key also ends a period that has run out, as it does where the counter stands with the key.
  const isSamePeriod = periodBefore === periodAfter && before.quota.renews === after.quota.renews;
  if (!isReset && isSamePeriod) return undefined;
  const { keyHash, dateCreated, lastUpdated } = after;
  return { keyHash, dateCreated, lastUpdated, at, isReset, periodBefore, periodAfter };
}

/** The counter after the change. */
export function changedQuota({ at, isReset, periodBefore, periodAfter }: QuotaChange, quota: QuotaState): QuotaState {
  if (isReset) return resetQuota(quota, periodAfter, unixSeconds(at));
  return carryOverQuota(
    { definition: { quotaRenewalRate: periodBefore }, quota },
    { quotaRenewalRate: periodAfter },
    at,
  );
}

function periodOf({ definition: { quotaRenewalRate = 0n } }: StoredKey): bigint {
  return quotaRenewalRate > 0n ? quotaRenewalRate : 0n;
}
