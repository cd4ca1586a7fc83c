import { unixSeconds } from '../lib/int64.js';
import type { StoredKey } from './key.js';
import { noticeOf, type NewNotice } from './notices.js';
import type { ExpiryStage, Ports } from './ports.js';

const day = 86_400n;

/**
 * A key that is written with an expiry time which is due meanwhile is not passed by, if its write takes less long. No request
 * does.
 */
export const settleSeconds = 15n;

/** A notice that is due for longer is not recorded but counted, so that a late start or a restore is no flood: 7 days. */
export const maxLateSeconds = 7n * day;

/** How many pages of keys one call looks at. */
const maxPages = 100;

/** What a sweep did. */
export interface ExpirySweep {
  readonly recorded: number;
  /** Keys that expired more than {@link maxLateSeconds} ago, before any process looked: they have no notice. At most 10,000 are counted. */
  readonly late: number;
  /** Keys whose rows fail the integrity check. They have no notice. */
  readonly damaged: number;
  /** Whether more keys may be due. */
  readonly hasMore: boolean;
}

/**
 * Records which keys expire in so many days, and which have expired. A key gets the notice of its latest stage only, and each
 * notice once, also if several processes do this at once, one is killed, or the clock is set back. Keys whose expiry time was
 * set when a stage had begun already may have no notice of this stage.
 *
 * @param days - how many days before the expiry
 */
export async function recordExpiryNotices(
  { store, now }: Pick<Ports, 'store' | 'now'>,
  days: readonly number[],
): Promise<ExpirySweep> {
  const stages = [...new Set([...days, 0])].toSorted((a, b) => b - a);
  const total = { recorded: 0, late: 0, damaged: 0 };
  let hasMore = false;
  for (const [index, daysBefore] of stages.entries()) {
    const nextDays = stages[index + 1];
    for (let pages = 0; ; pages += 1) {
      if (pages === maxPages) {
        hasMore = true;
        break;
      }
      const at = now();
      const seconds = unixSeconds(at);
      const end = seconds + BigInt(daysBefore) * day;
      const upTo = end - settleSeconds;
      const stage: ExpiryStage = { name: String(daysBefore), earliest: end - maxLateSeconds, upTo };
      const page = await store.passExpiring(stage, (stored) => {
        const { expires } = stored.definition;
        if (stored.deleted || expires === undefined) return undefined;
        // The notice of the next stage is due.
        if (nextDays !== undefined && expires - BigInt(nextDays) * day <= seconds) return undefined;
        return expiryNoticeOf(stored, daysBefore, expires, at);
      });
      total.recorded += page.recorded;
      // Those of other stages have a notice of a later stage.
      if (daysBefore === 0) total.late += page.late;
      total.damaged += page.damaged;
      if (!page.hasMore) break;
    }
  }
  return { ...total, hasMore };
}

function expiryNoticeOf(stored: StoredKey, daysBefore: number, expires: bigint, at: Date): NewNotice {
  return daysBefore === 0
    ? noticeOf(stored, 'expired', at, [String(expires)], { expires })
    : noticeOf(stored, 'expiring', at, [String(expires), daysBefore], { expires, daysBefore });
}
