import { withEffectiveQuota } from '../access/effective-access.js';
import type { Policies } from '../access/policy.js';
import { clampInt64 } from '../../lib/int64.js';
import { withLiveQuotas, type ExternalCounters } from './external-counters.js';
import { quotaFigures, type QuotaCounter } from './quota.js';
import type { KeyStore } from '../ports.js';
import type { ReadBudget } from '../read-budget.js';

/** Totals of the quotas of an organization's keys. Deleted keys do not count. */
export interface QuotaSummary {
  readonly keys: number;
  /** Keys whose quota has a maximum. The values below are totals of these keys. */
  readonly limitedKeys: number;
  /** Limited keys with nothing left in the current period. */
  readonly exhaustedKeys: number;
  /** Totals in requests, at most the largest int64. */
  readonly max: bigint;
  readonly used: bigint;
  readonly remaining: bigint;
}

const emptySummary: QuotaSummary = { keys: 0, limitedKeys: 0, exhaustedKeys: 0, max: 0n, used: 0n, remaining: 0n };

/** Returns a summary for each of the organizations, in their order. One without keys has zeros. */
export async function summarizeQuotas(
  {
    store,
    policies,
    externalCounters,
  }: {
    readonly store: Pick<KeyStore, 'counters'>;
    readonly policies: Policies;
    readonly externalCounters?: Pick<ExternalCounters, 'readCounters'> | undefined;
  },
  orgIDs: readonly string[],
  now: Date,
  reads?: ReadBudget,
): Promise<QuotaSummary[]> {
  const summaries = new Map<string, QuotaSummary>();
  for await (const page of store.counters(orgIDs, reads)) {
    for (const counter of await withLiveQuotas(externalCounters, page)) {
      const sum = summaries.get(counter.orgID) ?? emptySummary;
      summaries.set(counter.orgID, withCounter(sum, withEffectiveQuota(counter, policies), now));
    }
  }
  return orgIDs.map((orgID) => clampedToInt64(summaries.get(orgID) ?? emptySummary));
}

function withCounter(sum: QuotaSummary, counter: QuotaCounter, now: Date): QuotaSummary {
  const { max, used, remaining = 0n } = quotaFigures(counter, now);
  const keys = sum.keys + 1;
  if (max === undefined) return { ...sum, keys };
  return {
    keys,
    limitedKeys: sum.limitedKeys + 1,
    exhaustedKeys: sum.exhaustedKeys + (remaining === 0n ? 1 : 0),
    max: sum.max + max,
    used: sum.used + used,
    remaining: sum.remaining + remaining,
  };
}

function clampedToInt64(sum: QuotaSummary): QuotaSummary {
  return { ...sum, max: clampInt64(sum.max), used: clampInt64(sum.used), remaining: clampInt64(sum.remaining) };
}
