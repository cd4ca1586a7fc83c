import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { makeOwnCommandLine, type CommandLine } from '../../support/cli.js';

let c: CommandLine;
beforeEach(async () => {
  c = await makeOwnCommandLine();
});
const env = { PORT: '0', LOG_LEVEL: 'silent' };
/** Starts the service in production, and stops it. */
const startInProduction = () => c.keyfront(['serve'], { ...env, NODE_ENV: 'production' });
const credentialsFile = () => join(c.folder, 'first-credentials.txt');

it('can be stopped as soon as it prints its address', async () => {
  let stop: () => void = () => expect.unreachable('nothing would have been stopped yet');
  const onStop = (callback: () => void) => (stop = callback);
  expect((await c.keyfront(['serve'], env, false, { onStop, onStdout: () => stop() })).code).toBe(0);
});

it('writes the first credentials to a private file in production, and prints its path only', async () => {
  const file = credentialsFile();
  const first = await startInProduction();
  expect(first.code).toBe(0);
  expect(first.out).toContain(file);
  expect(first.out + first.stderr).not.toMatch(/kf_(mgt|svc)_\w/);
  expect(await readFile(file, 'utf8')).toMatch(/^management kf_mgt_\w{38}\nservice kf_svc_\w{38}\n$/);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const second = await startInProduction();
  expect([second.code, second.out]).toStrictEqual([0, expect.not.stringContaining(file)]);
});

it('overwrites no file with the first credentials', async () => {
  await mkdir(c.folder, { mode: 0o700 });
  await writeFile(credentialsFile(), 'kept');
  const { code, stderr } = await startInProduction();
  expect([code, stderr]).toStrictEqual([1, expect.stringContaining('Delete it and start again.')]);
  expect(await readFile(credentialsFile(), 'utf8')).toBe('kept');
});
