const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** How failures are dealt with. */
export interface Schedule {
  /** The waits after the first failures; from then on the last of them. */
  readonly waitsMs: readonly number[];
  /** After so many attempts an event is given up. */
  readonly mostAttempts: number;
}

/** About a day, in thirty attempts. */
export const usualSchedule: Schedule = {
  waitsMs: [second, 5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, hour],
  mostAttempts: 30,
};

/** The longest that a receiver may ask us to wait. */
const longestAskedMs = 24 * hour;

/** How long to wait after so many failed attempts, within a quarter of the schedule, or for as long as was asked for. */
export function waitMs(
  { waitsMs }: Schedule,
  attempts: number,
  askedMs: number | undefined,
  random: () => number,
): number {
  const usual = (waitsMs[attempts - 1] ?? waitsMs.at(-1) ?? hour) * (0.75 + random() / 2);
  return Math.round(Math.max(usual, Math.min(askedMs ?? 0, longestAskedMs)));
}

/** How long a `Retry-After` asks us to wait, in seconds or as a date; undefined where it says neither. */
export function askedWaitMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * second;
  const until = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : NaN;
  return Number.isNaN(until) ? undefined : Math.max(0, until - nowMs);
}
