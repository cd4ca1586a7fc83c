import { afterEach, describe, expect, it, vi } from 'vitest';
import { createReadBudget } from '../../../src/keys/read-budget.js';

afterEach(() => {
  vi.useRealTimers();
});

describe('a read budget', () => {
  it('has 6 MiB and 5 seconds by default', () => {
    const reads = createReadBudget(undefined, undefined, () => 100);
    expect([reads.bytesLeft(), reads.endsAtMs]).toStrictEqual([6_291_456, 5_100]);
  });

  it('rejects a read that exceeds the remaining bytes, and names the size and the limit', () => {
    const reads = createReadBudget(5_000, 2 * 1024 * 1024);
    reads.take('keys', 3, 1_500_000);
    expect(reads.bytesLeft()).toBe(2 * 1024 * 1024 - 1_500_000);
    expect(() => reads.take('history entries', 1_200, 1_500_000)).toThrow(
      'The request reads more than 2 MiB of stored data: 1,200 history entries have 1.4 MiB, after 1.4 MiB of other data. Request smaller or fewer pages.',
    );
    expect(reads.bytesLeft()).toBe(2 * 1024 * 1024 - 1_500_000);
  });

  it('rejects with TOO_LARGE, and takes exactly the bytes that are left', () => {
    const reads = createReadBudget(5_000, 10);
    expect(() => reads.take('keys', 1, 11)).toThrow(
      expect.objectContaining({
        code: 'TOO_LARGE',
        message: 'The request reads more than 0 MiB of stored data: 1 keys have 0 MiB. Request smaller or fewer pages.',
      }) as Error,
    );
    reads.take('keys', 1, 10);
    expect(reads.bytesLeft()).toBe(0);
  });

  it('has time until its deadline and not after it', () => {
    let nowMs = 100;
    const reads = createReadBudget(5_000, 10, () => nowMs);
    expect(reads.endsAtMs).toBe(5_100);
    nowMs = 5_099;
    reads.requireTime();
    nowMs = 5_100;
    expect(() => reads.requireTime()).toThrow(
      expect.objectContaining({
        code: 'UNAVAILABLE',
        retryAfterSeconds: 1,
        message: 'Reading took longer than 5 seconds. Narrow the filter or request less at once.',
      }) as Error,
    );
  });

  it('starts no work after its deadline, and rejects all of it with one error', async () => {
    let nowMs = 0;
    const reads = createReadBudget(5_000, 10, () => nowMs);
    nowMs = 5_000;
    let isStarted = false;
    const work = async () => {
      isStarted = true;
    };
    const results = await Promise.allSettled([reads.inOrder(work), reads.inOrder(work)]);
    expect(results).toStrictEqual(results.map(() => ({ status: 'rejected', reason: reads.expired() })));
    expect(isStarted).toBe(false);
  });

  it('returns the result of work that is done before its deadline', async () => {
    vi.useFakeTimers();
    const reads = createReadBudget(5_000, 10, () => Date.now());
    const work = async () => {
      await vi.advanceTimersByTimeAsync(4_999);
      return 'read';
    };
    expect(await reads.inOrder(work)).toBe('read');
  });

  it('rejects work at its deadline that is not done', async () => {
    vi.useFakeTimers();
    const reads = createReadBudget(5_000, 10, () => Date.now());
    const settled = Promise.allSettled([reads.inOrder(() => new Promise(() => undefined))]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await settled).toStrictEqual([{ status: 'rejected', reason: reads.expired() }]);
  });

  it('runs the long reads of a request one after another, also after a failed one', async () => {
    const reads = createReadBudget();
    const order: string[] = [];
    const long = (name: string, fails = false) =>
      reads.inOrder(async () => {
        order.push(`${name} begins`);
        await Promise.resolve();
        order.push(`${name} ends`);
        if (fails) throw new Error(name);
      });
    await Promise.allSettled([long('first', true), long('second'), long('third')]);
    expect(order).toStrictEqual(['first', 'second', 'third'].flatMap((name) => [`${name} begins`, `${name} ends`]));
  });
});
