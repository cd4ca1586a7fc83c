import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from '../../../src/cli/main.js';

it('can be stopped as soon as it prints its address', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keyfront-serve-'));
  let stop: () => void = () => expect.unreachable('nothing would have been stopped yet');
  const code = await run(['serve'], {
    env: { PORT: '0', KEYFRONT_DATA: join(folder, 'data'), LOG_LEVEL: 'silent' },
    stdout: () => stop(),
    stderr: () => undefined,
    isStderrTTY: false,
    onStop: (callback) => {
      stop = callback;
    },
  });
  expect(code).toBe(0);
  await rm(folder, { recursive: true });
});
