import { expect, it } from 'vitest';
import { createTestSlots, maxTestsAtOnce, testIntervalMs } from '../../../src/webhooks/test-slots.js';

const started = () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  return { test: () => promise, end: () => resolve('sent') };
};

it('a webhook is tested again a second after its last test, also if that has failed', async () => {
  let nowMs = 0;
  const slots = createTestSlots(() => nowMs);
  const first = started();
  const running = slots.run('a', first.test);
  await expect(slots.run('a', first.test)).rejects.toMatchObject({ code: 'CONFLICT' });
  first.end();
  expect(await running).toBe('sent');
  nowMs = testIntervalMs - 1;
  await expect(slots.run('a', first.test)).rejects.toMatchObject({ code: 'CONFLICT' });
  nowMs = testIntervalMs;
  await expect(slots.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  await expect(slots.run('a', first.test)).rejects.toMatchObject({ code: 'CONFLICT' });
  nowMs = 2 * testIntervalMs;
  expect(await slots.run('a', first.test)).toBe('sent');
});

it('few webhooks are tested at once', async () => {
  const slots = createTestSlots();
  const tests = Array.from({ length: maxTestsAtOnce }, started);
  const running = tests.map(({ test }, index) => slots.run(String(index), test));
  await expect(slots.run('more', () => Promise.resolve(''))).rejects.toMatchObject({ code: 'CONFLICT' });
  tests[0]?.end();
  await running[0];
  expect(await slots.run('more', () => Promise.resolve('sent'))).toBe('sent');
  for (const { end } of tests) end();
  await Promise.all(running);
});
