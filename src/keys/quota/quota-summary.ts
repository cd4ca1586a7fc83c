import { maxInt64 } from '../../lib/int64.js';
import { withLiveQuotas, type QuotaManager } from './quota-manager.js';
import { quotaFigures, type Counter } from './quota.js';
import type { ReadBudget } from '../read-budget.js';

/** What the quotas of an organisation's keys come to. Deleted keys do not count. */
export interface QuotaSummary {
  readonly keys: number;
  /** Keys whose quota has a maximum; the figures below are theirs. */
  readonly limitedKeys: number;
  /** Limited keys of which nothing remains in the current period. */
  readonly exhaustedKeys: number;
  /** Sums in requests; the greatest int64 where they are beyond it. */
  readonly max: bigint;
  readonly used: bigint;
  readonly remaining: bigint;
}

const none: QuotaSummary = { keys: 0, limitedKeys: 0, exhaustedKeys: 0, max: 0n, used: 0n, remaining: 0n };

/** A summary for each of the organisations, in their order; zeros for one without keys. */
export async function summariseQuotas(
  quotas: QuotaManager,
  orgIDs: readonly string[],
  now: Date,
  reads?: ReadBudget,
): Promise<QuotaSummary[]> {
  const summaries = new Map<string, QuotaSummary>();
  for await (const page of quotas.counters(orgIDs, reads)) {
    for (const counter of await withLiveQuotas(quotas, page)) {
      summaries.set(counter.orgID, withCounter(summaries.get(counter.orgID) ?? none, counter, now));
    }
  }
  return orgIDs.map((orgID) => withinInt64(summaries.get(orgID) ?? none));
}

function withCounter(sum: QuotaSummary, counter: Counter, now: Date): QuotaSummary {
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

function withinInt64(sum: QuotaSummary): QuotaSummary {
  const within = (value: bigint) => (value > maxInt64 ? maxInt64 : value);
  return { ...sum, max: within(sum.max), used: within(sum.used), remaining: within(sum.remaining) };
}
