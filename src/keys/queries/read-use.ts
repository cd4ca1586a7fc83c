import { requireScope } from '../authorization.js';
import { AppError, type Issue } from '../../lib/errors.js';
import { clampInt64 } from '../../lib/int64.js';
import type { StoredKey } from '../key.js';
import type { CallContext, Ports } from '../ports.js';
import { dayFromText, dayOf, dayText, useDays, type DayOfUse, type DayRange } from '../use/use.js';

/** Days as clients send them, such as 2026-01-31. */
export interface RequestedDays {
  /** Default: 29 days before `to`. */
  readonly from?: string | undefined;
  /** Included. Default: today in UTC. */
  readonly to?: string | undefined;
}

/** The use of a key or an organization. */
export interface Usage {
  readonly range: DayRange;
  /** The days that have requests. */
  readonly days: readonly DayOfUse[];
}

const defaultDays = 30;

/** The queries of the use of keys. Each throws FORBIDDEN if the caller lacks the scope `read`. */
export function createUseQueries({ uses, now }: Pick<Ports, 'uses' | 'now'>) {
  return {
    /**
     * Reads a range of days.
     *
     * @throws {AppError} INVALID with the path `from` or `to` for a malformed day, a range that ends before it begins, or one
     * of more than 400 days.
     */
    useRangeOf({ from, to }: RequestedDays): DayRange {
      const last = to === undefined ? dayOf(now().getTime()) : readDay(to, 'to');
      const first = from === undefined ? last - defaultDays + 1 : readDay(from, 'from');
      if (first > last) throw invalidDays({ path: ['from'], code: 'OUT_OF_RANGE', message: 'must not be after `to`' });
      if (last - first >= useDays) {
        const message = `must be at most ${useDays - 1} days before \`to\``;
        throw invalidDays({ path: ['from'], code: 'OUT_OF_RANGE', message });
      }
      return { from: first, to: last };
    },
    /** Returns the use of each key. The caller must have access to all of them. */
    async usesOf(caller: CallContext, keys: readonly StoredKey[], range: DayRange): Promise<Usage[]> {
      requireScope(caller, 'read');
      return (await uses.ofKeys(keys, range, caller.reads)).map((days) => ({ range, days }));
    },
    /** Returns the use of each organization. The caller must have access to all of them. */
    async usesOfOrgs(caller: CallContext, orgIDs: readonly string[], range: DayRange): Promise<Usage[]> {
      requireScope(caller, 'read');
      return (await uses.ofOrgs(orgIDs, range, caller.reads)).map((days) => ({ range, days }));
    },
  };
}

function readDay(text: string, name: 'from' | 'to'): number {
  const day = dayFromText(text);
  if (day !== undefined) return day;
  throw invalidDays({ path: [name], code: 'MALFORMED_DATE', message: 'must be a day such as 2026-01-31' });
}

function invalidDays(issue: Issue): AppError {
  return new AppError('INVALID', 'The days are not valid.', { issues: [issue] });
}

/** Sums of a use, each at most the largest 64-bit integer. */
export function totalsOf({ days }: Usage): Omit<DayOfUse, 'day'> {
  let [allowed, denied] = [0n, 0n];
  for (const day of days) {
    allowed += day.allowed;
    denied += day.denied;
  }
  return { allowed: clampInt64(allowed), denied: clampInt64(denied) };
}

/** When a key was last used, as RFC 3339; undefined if never. */
export function lastUseOf({ lastUsed }: StoredKey): string | undefined {
  return lastUsed === undefined ? undefined : new Date(Number(lastUsed)).toISOString();
}

/** The days of a use as texts. */
export function daysToText({ days }: Usage) {
  return days.map(({ day, allowed, denied }) => ({ day: dayText(day), allowed, denied }));
}
