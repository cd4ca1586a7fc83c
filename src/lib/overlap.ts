import { invalidArgument } from './errors.js';

/** An hour, in milliseconds. */
export const hourMs = 3_600_000;

/** The maximum time that a replaced secret stays valid, in hours: a year. */
export const maxOverlapHours = 8_760;

/**
 * Returns the overlap of a rotation in milliseconds.
 *
 * @throws {AppError} INVALID when it is negative or longer than a year.
 */
export function overlapMsOf(overlapHours: number): number {
  if (overlapHours >= 0 && overlapHours <= maxOverlapHours) return overlapHours * hourMs;
  throw invalidArgument('overlapHours', `must be 0 to ${maxOverlapHours}`);
}
