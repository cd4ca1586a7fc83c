import { carryOverQuota, resetQuota } from './quota.js';
import type { QuotaState, StoredKey } from '../key.js';
import { unixSeconds } from '../../lib/int64.js';

/**
 * The effect of a change on an external counter. Written in the transaction of the change and applied after it, at least
 * once: the identity and `lastUpdated` identify a change that has been applied already.
 */
export interface QuotaChange {
  readonly keyHash: string;
  /** That of the key: another one with the same hash may have been purged. */
  readonly identity: string;
  /** `lastUpdated` of the key after the change. Strictly increasing, so that it orders the changes. */
  readonly lastUpdated: bigint;
  readonly at: Date;
  /** Whether the count is reset to 0; otherwise only the period changes. */
  readonly isReset: boolean;
  /** Seconds; 0 or less for a quota that does not renew. */
  readonly periodBefore: bigint;
  readonly periodAfter: bigint;
}

/** Returns the effect of a change of a key with its effective quota on the external counter; undefined if there is none. */
export function quotaChangeOf(
  before: StoredKey,
  after: StoredKey,
  at: Date,
  isReset: boolean,
): QuotaChange | undefined {
  const [periodBefore, periodAfter] = [periodOf(before), periodOf(after)];
  // A change of the key also starts the next period if the current one has ended, as for counters in the key itself.
  const isSamePeriod = periodBefore === periodAfter && before.quota.renews === after.quota.renews;
  if (!isReset && isSamePeriod) return undefined;
  const { keyHash, identity, lastUpdated } = after;
  return { keyHash, identity, lastUpdated, at, isReset, periodBefore, periodAfter };
}

/** Returns the counter after the change. */
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
