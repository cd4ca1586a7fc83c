import { describe, expect, it } from 'vitest';
import { createReadBudget } from '../../../src/keys/read-budget.js';

describe('a read budget', () => {
  it('rejects a read that exceeds the remaining bytes, and names the size and the limit', () => {
    const reads = createReadBudget(5_000, 2 * 1024 * 1024);
    reads.take('keys', 3, 1_500_000);
    expect(reads.bytesLeft()).toBe(2 * 1024 * 1024 - 1_500_000);
    expect(() => reads.take('history entries', 1_200, 1_500_000)).toThrow(
      'The request reads more than 2 MiB of stored data: 1,200 history entries have 1.4 MiB, after 1.4 MiB of other data. Request smaller or fewer pages.',
    );
    expect(reads.bytesLeft()).toBe(2 * 1024 * 1024 - 1_500_000);
  });

  it('rejects with TOO_LARGE', () => {
    expect(() => createReadBudget(5_000, 10).take('keys', 1, 11)).toThrow(
      expect.objectContaining({ code: 'TOO_LARGE' }) as Error,
    );
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
        message: expect.stringContaining('Reading took longer than 5 seconds.') as string,
      }) as Error,
    );
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
