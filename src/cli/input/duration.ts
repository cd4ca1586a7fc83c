import type { OptionValues } from '../command.js';
import { UsageError } from '../io.js';

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const defaultOverlapMs = 86_400_000;

/**
 * Parses a duration such as `12h`, `90d` or `4w`. Returns milliseconds; undefined if the option is absent.
 *
 * @throws {UsageError} if the value is not a duration.
 */
export function parseDuration(option: string, value: string | boolean | undefined, expected = ''): number | undefined {
  if (value === undefined) return undefined;
  const [, count = '', unit = ''] = /^([1-9]\d{0,4})([hdw])$/.exec(String(value)) ?? [];
  const unitLengthMs = unitMs[unit];
  if (unitLengthMs === undefined) {
    throw new UsageError(`${option} must be ${expected}a number of hours, days or weeks, such as 12h, 90d or 4w.`);
  }
  return Number(count) * unitLengthMs;
}

/** Milliseconds during which the old secret of a rotation stays valid. `--overlap 0` means none, the default is 24 hours. */
export function parseOverlap({ overlap }: OptionValues): number {
  return overlap === '0' ? 0 : (parseDuration('--overlap', overlap, '0, or ') ?? defaultOverlapMs);
}
