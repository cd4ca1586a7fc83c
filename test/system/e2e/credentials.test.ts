import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Running } from '../../support/process.js';
import { useProcesses } from '../../support/processes.js';

const run = promisify(execFile);
const { main, path, start } = useProcesses();

/** The command line as another process, on the same data folder. */
const keyfront = (...args: string[]) =>
  run(process.execPath, [main(), ...args], { env: { PATH: process.env['PATH'], KEYFRONT_DATA: path('data') } });

let one: Running;
beforeEach(async () => {
  one = await start();
});

async function issue(): Promise<{ id: string; secret: string }> {
  const { stdout, stderr } = await keyfront('credentials', 'issue', '--kind', 'management', '--label', 'e2e');
  return { id: /cred_\w+/.exec(stderr)?.[0] ?? '', secret: stdout.trim() };
}

async function statusOf(secret: string): Promise<number> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
  return (await fetch(`${one.url}/api/keys/preview`, { method: 'POST', headers, body: '{}' })).status;
}

async function killAndRestart(): Promise<void> {
  one.signal('SIGKILL');
  expect(await one.exited).toStrictEqual({ code: null, signal: 'SIGKILL' });
  one = await start();
}

describe('a credential while a service runs', () => {
  it('is valid from its issue by another process until its revocation by another, also after kill -9', async () => {
    const { id, secret } = await issue();
    expect(await statusOf(secret)).toBe(200);
    await killAndRestart();
    expect(await statusOf(secret)).toBe(200);
    await keyfront('credentials', 'revoke', id);
    // The very next request, though five seconds would do.
    expect(await statusOf(secret)).toBe(401);
    await killAndRestart();
    expect(await statusOf(secret)).toBe(401);
  });

  it('is rotated without a restart: at once with an overlap of 0, otherwise both are valid; also after kill -9', async () => {
    const old = await issue();
    const { stdout: next, stderr } = await keyfront('credentials', 'rotate', old.id);
    expect([await statusOf(old.secret), await statusOf(next.trim())]).toStrictEqual([200, 200]);
    const successor = /Issued (cred_\w+)/.exec(stderr)?.[1] ?? '';
    const { stdout: last } = await keyfront('credentials', 'rotate', successor, '--overlap', '0');
    const all = async () => Promise.all([old.secret, next.trim(), last.trim()].map(statusOf));
    expect(await all()).toStrictEqual([200, 401, 200]);
    await killAndRestart();
    expect(await all()).toStrictEqual([200, 401, 200]);
  });

  it('has the time of its last use once the service has stopped', async () => {
    const { id, secret } = await issue();
    const before = Date.now();
    expect(await statusOf(secret)).toBe(200);
    one.signal('SIGTERM');
    expect(await one.exited).toStrictEqual({ code: 0, signal: null });
    const { stdout } = await keyfront('credentials', 'list');
    const [used = ''] = stdout.split('\n').flatMap((row) => (row.startsWith(id) ? row.split(/ {2,}/).slice(8, 9) : []));
    expect(Date.parse(used)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(used)).toBeLessThanOrEqual(Date.now());
  });
});
