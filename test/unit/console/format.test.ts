import { describe, expect, it } from 'vitest';
import {
  formatCount,
  formatDuration,
  formatQuota,
  formatRate,
  formatRelative,
  usedShare,
} from '../../../src/console/format.js';

describe('numbers with their units', () => {
  it.each([
    [1, 'second'],
    [90, '90 seconds'],
    [60, 'minute'],
    [7200, '2 hours'],
    [2_592_000, '30 days'],
    [604_800, 'week'],
    ['86400', 'day'],
    [0.5, '0.5 seconds'],
    [0, '0 seconds'],
  ])('writes %s seconds as %s', (seconds, shown) => {
    expect(formatDuration(seconds)).toBe(shown);
  });

  it.each([
    [200, 60, '200 per minute'],
    [0.5, 1, '0.5 per second'],
    [null, 60, 'no limit'],
    [-1, 60, 'no limit'],
    [5, null, '5, off without a period'],
    [5, 0, '5, off without a period'],
  ])('writes the rate %s per %s as %s', (rate, per, shown) => {
    expect(formatRate(rate, per)).toBe(shown);
  });

  it.each([
    [10_000, 2_592_000, '10,000 per 30 days'],
    ['9223372036854775807', 3600, '9,223,372,036,854,775,807 per hour'],
    [10, -1, '10 in total'],
    [10, null, '10 in total'],
    [-1, 3600, 'no limit'],
    [0, 3600, 'no limit'],
    [null, null, 'no limit'],
  ])('writes the quota %s per %s as %s', (max, period, shown) => {
    expect(formatQuota(max, period)).toBe(shown);
  });

  it.each([
    [6 * 86_400, 'in 6 days'],
    [12 * 86_400, 'in 12 days'],
    [86_400, 'tomorrow'],
    [-86_400, 'yesterday'],
    [-7200, '2 hours ago'],
    [-5, 'just now'],
    [5, 'in a moment'],
    [400 * 86_400, 'next year'],
  ])('writes the time in %s seconds as %s', (seconds, shown) => {
    const now = Date.parse('2026-06-01T12:00:00Z');
    expect(formatRelative(new Date(now + seconds * 1000).toISOString(), now)).toBe(shown);
  });

  it('writes the plural, and the share of a quota', () => {
    expect([formatCount(1, 'key'), formatCount('1200', 'key')]).toEqual(['1 key', '1,200 keys']);
    const shares = [usedShare({ max: null, used: 5 }), usedShare({ max: 10, used: 5 }), usedShare({ max: 0, used: 0 })];
    expect(shares).toEqual([undefined, 0.5, 1]);
  });
});
