import { copyFile, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApp } from '../../support/app.js';
import { makeCommandLine } from '../../support/cli.js';
import { buildMain } from '../../support/build.mjs';
import { start, type Running } from '../../support/process.js';

let main: string;
let folder: string;
let running: Running | undefined;
beforeAll(async () => {
  main = await buildMain();
}, 120_000);
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyfront-replaced-'));
});
afterEach(async () => {
  running?.signal('SIGKILL');
  await running?.exited;
  running = undefined;
  await rm(folder, { recursive: true });
});

const fileOf = (name: string) => join(folder, 'data', name);

/** The status of an update; undefined when the service has gone. */
async function update(one: Running, alias: string): Promise<number | undefined> {
  try {
    const response = await fetch(`${one.url}/svc/org/keys/acme-billing`, {
      method: 'PUT',
      headers: {
        'X-Svc-Authorization': /kf_svc_\w+/.exec(one.stdout())?.[0] ?? '',
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({ alias, rate: 1, per: 1 }),
    });
    return response.status;
  } catch {
    return undefined;
  }
}

async function backup(): Promise<string> {
  const c = await makeCommandLine();
  const target = join(folder, 'backup');
  expect(await c.keyfront(['backup', target], { KEYFRONT_DATA: join(folder, 'data') })).toMatchObject({ code: 0 });
  await c.remove();
  return join(target, 'keyfront.db');
}

async function checked(): Promise<string> {
  const c = await makeCommandLine();
  const { code, out, stderr } = await c.keyfront(['keys', 'export'], { KEYFRONT_DATA: join(folder, 'data') });
  expect(code, stderr).toBe(0);
  expect(await c.keyfront(['check'], { KEYFRONT_DATA: join(folder, 'data') })).toMatchObject({ code: 0 });
  await c.remove();
  return out;
}

describe.each([
  ['one process', []],
  ['two workers', ['--workers', '2']],
])('D-05 a service of %s', (_, options) => {
  const started = async () => {
    running = await start(main, join(folder, 'data'), ['serve', '--sample', ...options]);
    return running;
  };

  it('acknowledges nothing more after its database file was replaced, and exits with 1 and the reason', async () => {
    const one = await started();
    expect(await update(one, 'in the backup')).toBe(200);
    await copyFile(await backup(), fileOf('restored.db'));
    expect(await update(one, 'before')).toBe(200);
    await rename(fileOf('restored.db'), fileOf('keyfront.db'));
    expect([503, undefined]).toContain(await update(one, 'after'));
    expect(await one.exited).toStrictEqual({ code: 1, signal: null });
    expect(one.stderr()).toContain('keyfront.db was replaced by another file while the database was in use');
    // The file that was put in place is as it was, and no log of the former one is replayed into it.
    expect(await checked()).toContain('"alias":"in the backup"');
  });

  it('exits with 1 without a write after its -wal was deleted, and keeps what it acknowledged', async () => {
    const one = await started();
    expect(await update(one, 'acknowledged')).toBe(200);
    await rm(fileOf('keyfront.db-wal'));
    expect(await one.exited).toStrictEqual({ code: 1, signal: null });
    expect(one.stderr()).toContain('keyfront.db-wal was deleted while the database was in use');
    expect(await checked()).toContain('"alias":"acknowledged"');
  });
});

describe('D-05 a service whose -wal is deleted', () => {
  it('rejects writes and /ready with 503', async () => {
    const t = await startApp({ KEYFRONT_DATA: join(folder, 'data') });
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    expect((await t.send('/ready')).status).toBe(200);
    await rm(fileOf('keyfront.db-wal'));
    expect(await t.update('k1', { alias: 'after' })).toMatchObject({
      status: 503,
      body: {
        code: 'UNAVAILABLE',
        // The look that is taken every second may come before the write, which then writes nothing.
        message: expect.stringMatching(/^Storage (failed, and it is not known|has failed)/),
      },
    });
    expect(await t.app.services.failed).toMatchObject({ message: expect.stringContaining('-wal was deleted') });
    await expect.poll(async () => (await t.send('/ready')).status).toBe(503);
    await t.close();
  });
});
