import { expect, it } from 'vitest';
import { createOneAtATime } from '../../../src/lib/one-at-a-time.js';

it('runs each work after the one before it has ended, also after a failure', async () => {
  const oneAtATime = createOneAtATime();
  const log: string[] = [];
  const work = (name: string) => async () => {
    log.push(`${name} begins`);
    await Promise.resolve();
    log.push(`${name} ends`);
    if (name === 'b') throw new Error('b failed');
    return name;
  };
  const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((name) => oneAtATime(work(name))));
  expect(log).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});
