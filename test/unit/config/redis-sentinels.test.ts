import { describe, expect, it } from 'vitest';
import { sentinelsOf } from '../../../src/config/redis-sentinels.js';

describe('sentinelsOf', () => {
  it('returns the Sentinels without the password, which the Redis servers get', () => {
    // secret-scan: fixture
    const sentinels = sentinelsOf('rediss+sentinel://user:p%40ss@first:1,[::1],third/my-counters/2');
    expect(sentinels?.urls).toEqual(['rediss://first:1', 'rediss://[::1]:26379', 'rediss://third:26379']);
    expect(sentinels?.name).toBe('my-counters');
    // secret-scan: fixture
    expect(sentinels?.primaryURL('10.0.0.1', '6379')).toBe('rediss://user:p%40ss@10.0.0.1:6379/2');
    // secret-scan: fixture
    expect(sentinels?.primaryURL('fd00::1', '6379')).toBe('rediss://user:p%40ss@[fd00::1]:6379/2');
  });

  it.each([
    'redis://first/0',
    'redis+sentinel://first',
    'redis+sentinel://first/',
    'redis+sentinel://first,/name',
    'redis+sentinel://first:99999/name',
    'redis+sentinel://fd00::1/name',
    'redis+sentinel://first/name/database',
    'redis+sentinel://first/name?option',
  ])('returns undefined for %s', (url) => {
    expect(sentinelsOf(url)).toBeUndefined();
  });
});
