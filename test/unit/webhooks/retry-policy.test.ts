import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  defaultRetryPolicy,
  maxRetryDelayMs,
  parseRetryAfterMs,
  retryDelayMs,
} from '../../../src/webhooks/retry-policy.js';

const hour = 3_600_000;
const day = 24 * hour;

/** The delay after the first failure for each end of the jitter: 0 and almost 1. */
function delays(attempts: number, retryAfterMs?: number) {
  const random = vi.spyOn(Math, 'random');
  onTestFinished(() => random.mockRestore());
  return [0, 1 - Number.EPSILON].map((value) => {
    random.mockReturnValue(value);
    return retryDelayMs(defaultRetryPolicy, attempts, retryAfterMs);
  });
}

describe('the delay before the next attempt', () => {
  it.each([
    [1, 1_000],
    [2, 5_000],
    [3, 30_000],
    [7, hour],
    [30, hour],
  ])('after failure %i is %i ms, with a jitter of 25 %%', (attempts, delayMs) => {
    expect(delays(attempts)).toStrictEqual([0.75 * delayMs, 1.25 * delayMs]);
  });

  it('is that of Retry-After if it is longer, and at most a day', () => {
    expect(delays(2, 4_000)).toStrictEqual([4_000, 6_250]);
    expect(delays(2, 0)).toStrictEqual([3_750, 6_250]);
    expect(delays(2, 60_000)).toStrictEqual([60_000, 60_000]);
    expect(delays(2, 2 * day)).toStrictEqual([day, day]);
  });

  it('is never longer than the longest', () => {
    expect(maxRetryDelayMs(defaultRetryPolicy)).toBe(day);
    expect(maxRetryDelayMs({ delaysMs: [2 * day], maxAttempts: 1 })).toBe(2.5 * day);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-01-31T12:00:00Z');
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Sat, 31 Jan 2026 12:00:30 GMT', 30_000],
    ['Sat, 31 Jan 2026 11:00:00 GMT', 0],
    ['-1', undefined],
    ['1.5', undefined],
    ['1234567890', undefined],
    ['2026-01-31T12:00:30Z', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%j is %s milliseconds', (header, expected) => {
    expect(parseRetryAfterMs(header, now)).toBe(expected);
  });
});
