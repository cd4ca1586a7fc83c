import { noticeOf, type NewNotice, type QuotaNotices } from './notices.js';
import type { KeyStore } from './ports.js';

/** Quotas with shorter periods have no notices, so that their number is bounded: an hour, in seconds. */
export const minNoticedPeriod = 3_600n;

/** How many notices wait to be recorded, and how many keys are known whose notices were recorded. */
const maxWaiting = 10_000;
const maxKnown = 10_000;

/** How many notices one flush records, and how many one transaction. */
const maxRecorded = 1_000;
const batchSize = 50;

/** What was noted last for a key, and how much of its quota was used then. */
interface Noted {
  readonly identity: string;
  readonly renewsAt: bigint | undefined;
  readonly count: number;
}

/**
 * Notices of used quotas. What waits in memory is lost when the process is killed; then the next request of the same period
 * that is counted or rejected, by any process, notes it again. The store records each once.
 */
export function createQuotaNotices(store: Pick<KeyStore, 'addNotices'>): QuotaNotices {
  const waiting = new Map<string, NewNotice>();
  const noted = new Map<string, Noted>();

  return {
    note(key, { max, used, renewsAt }, at) {
      if (max === undefined) return;
      const { monitor, quotaRenewalRate = 0n } = key.definition;
      const limits = monitor?.triggerLimits;
      const isExhausted = used >= max;
      if (!isExhausted && limits === undefined) return;
      if (quotaRenewalRate > 0n && quotaRenewalRate < minNoticedPeriod) return;
      const [usedNumber, maxNumber] = [Number(used), Number(max)];
      const reached = (limits ?? []).filter((percent) => usedNumber * 100 >= percent * maxNumber);
      const count = reached.length + (isExhausted ? 1 : 0);
      if (count === 0) return;
      const { keyHash, identity } = key;
      const before = noted.get(keyHash);
      const isSame = before?.identity === identity && before.renewsAt === renewsAt;
      if ((isSame && before.count >= count) || waiting.size >= maxWaiting) return;
      if (noted.size >= maxKnown) noted.clear();
      noted.set(keyHash, { identity, renewsAt, count });
      const period = String(renewsAt ?? '');
      const details = { quotaUsed: used, quotaMax: max, quotaRenewsAt: renewsAt };
      const notices = reached.map((threshold) =>
        noticeOf(key, 'quota_threshold', at, [threshold, period], { threshold, ...details }),
      );
      if (isExhausted) notices.push(noticeOf(key, 'quota_exhausted', at, [period], details));
      for (const notice of notices) {
        const name = nameOf(notice);
        if (!waiting.has(name)) waiting.set(name, notice);
      }
    },
    async flush() {
      let added = 0;
      for (let seen = 0; waiting.size > 0 && seen < maxRecorded; seen += batchSize) {
        const batch = firstOf(waiting.values(), batchSize);
        added += await store.addNotices(batch);
        for (const notice of batch) waiting.delete(nameOf(notice));
      }
      return added;
    },
  };
}

/** The first items, at most so many. */
function firstOf<Item>(items: Iterable<Item>, count: number): Item[] {
  const first: Item[] = [];
  for (const item of items) {
    if (first.length === count) break;
    first.push(item);
  }
  return first;
}

/** Names what a notice reports. */
function nameOf({ keyHash, identity, kind, occasion }: NewNotice): string {
  return [keyHash, identity, kind, ...occasion].join(' ');
}
