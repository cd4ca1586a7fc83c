import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
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

/** Starts the service in production on a new data folder, and stops it. */
async function startInProduction(folder: string) {
  let out = '';
  let stderr = '';
  const code = await run(['serve'], {
    env: { PORT: '0', NODE_ENV: 'production', KEYFRONT_DATA: folder, LOG_LEVEL: 'silent' },
    stdout: (text) => (out += text),
    stderr: (text) => (stderr += text),
    isStderrTTY: false,
    onStop: (callback) => callback(),
  });
  return { code, out, stderr };
}

it('writes the first credentials to a private file in production, and prints its path only', async () => {
  const root = await mkdtemp(join(tmpdir(), 'keyfront-serve-'));
  const folder = join(root, 'data');
  const file = join(folder, 'first-credentials.txt');
  const first = await startInProduction(folder);
  expect(first.code).toBe(0);
  expect(first.out).toContain(file);
  expect(first.out + first.stderr).not.toMatch(/kf_(mgt|svc)_\w/);
  expect(await readFile(file, 'utf8')).toMatch(/^management kf_mgt_\w{38}\nservice kf_svc_\w{38}\n$/);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const second = await startInProduction(folder);
  expect([second.code, second.out]).toStrictEqual([0, expect.not.stringContaining(file)]);
  await rm(root, { recursive: true });
});

it('overwrites no file with the first credentials', async () => {
  const root = await mkdtemp(join(tmpdir(), 'keyfront-serve-'));
  const folder = join(root, 'data');
  const file = join(folder, 'first-credentials.txt');
  await mkdir(folder, { mode: 0o700 });
  await writeFile(file, 'kept');
  const { code, stderr } = await startInProduction(folder);
  expect([code, stderr]).toStrictEqual([1, expect.stringContaining('Delete it and start again.')]);
  expect(await readFile(file, 'utf8')).toBe('kept');
  await rm(root, { recursive: true });
});
