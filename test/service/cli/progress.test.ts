import { expect, it } from 'vitest';
import { createProgressLine } from '../../../src/cli/output.js';

function watched(isStderrTTY: boolean) {
  let now = 0;
  let stderr = '';
  const io = {
    env: {},
    stdout: () => undefined,
    stderr: (text: string) => void (stderr += text),
    isStderrTTY,
    onStop: () => undefined,
    nowMs: () => now,
  };
  const progress = createProgressLine(io, 'keys');
  return {
    at: (milliseconds: number, count: number, part?: number) => {
      now = milliseconds;
      stderr = '';
      progress.show(count, part);
      return stderr;
    },
    end: () => {
      stderr = '';
      progress.end();
      return stderr;
    },
  };
}

it('shows the rate and the remaining time, and clears its line', () => {
  const { at, end } = watched(true);
  expect(at(500, 100, 0.01)).toBe('\r100 keys …\u001b[K');
  expect(at(550, 110, 0.01)).toBe('');
  expect(at(10_000, 25_000, 0.25)).toBe('\r25,000 keys, 2,500 per second, 25 %, 30 s left …\u001b[K');
  expect(at(20_000, 25_000, 0.01)).toBe('\r25,000 keys, 1,250 per second, 1 %, 33 min left …\u001b[K');
  expect(at(30_000, 30_000)).toBe('\r30,000 keys, 1,000 per second …\u001b[K');
  expect(at(40_000, 40_000, 0)).toBe('\r40,000 keys, 1,000 per second …\u001b[K');
  expect(end()).toBe('\r\u001b[K');
});

it('prints a line every five seconds without a terminal', () => {
  const { at, end } = watched(false);
  expect(at(4_999, 10_000, 0.1)).toBe('');
  expect(at(10_000, 25_000, 0.25)).toBe('25,000 keys, 2,500 per second, 25 %, 30 s left\n');
  expect(at(14_000, 30_000, 0.3)).toBe('');
  expect(at(15_000, 30_000, 0.3)).toBe('30,000 keys, 2,000 per second, 30 %, 35 s left\n');
  expect(end()).toBe('');
});
