import { copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeCommandLine } from '../../support/cli.js';
import type { Running } from '../../support/process.js';
import { printedBy, putKey, useProcesses } from '../../support/processes.js';
import { until } from '../../support/until.js';

const { path, start } = useProcesses();

const fileOf = (name: string) => join(path('data'), name);

/** The status of an update; undefined when the service has gone. */
async function update(one: Running, alias: string): Promise<number | undefined> {
  try {
    return (await putKey(one.url, printedBy(one).service, { alias, rate: 1, per: 1 })).status;
  } catch {
    return undefined;
  }
}

async function backup(): Promise<string> {
  const c = await makeCommandLine();
  const target = path('backup');
  expect(await c.keyfront(['backup', target], { KEYFRONT_DATA: path('data') })).toMatchObject({ code: 0 });
  await c.remove();
  return join(target, 'keyfront.db');
}

async function checked(): Promise<string> {
  const c = await makeCommandLine();
  const { code, out, stderr } = await c.keyfront(['keys', 'export'], { KEYFRONT_DATA: path('data') });
  expect(code, stderr).toBe(0);
  expect(await c.keyfront(['check'], { KEYFRONT_DATA: path('data') })).toMatchObject({ code: 0 });
  await c.remove();
  return out;
}

describe.each([
  ['one process', []],
  ['two workers', ['--workers', '2']],
])('D-05 a service of %s', (_, options) => {
  const started = () => start(['serve', '--sample', ...options]);

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

  it('exits with 1 after an older copy was written into its database file, at the next check', async () => {
    const one = await started();
    expect(await update(one, 'in the copy')).toBe(200);
    const older = await readFile(fileOf('keyfront.db'));
    expect(await update(one, 'later')).toBe(200);
    // A check has copied the later change into the file.
    await until(async () => !(await readFile(fileOf('keyfront.db'))).equals(older));
    await writeFile(fileOf('keyfront.db'), older);
    expect(await one.exited).toStrictEqual({ code: 1, signal: null });
    expect(one.stderr()).toContain('keyfront.db was overwritten or cut off while the database was in use');
  });
});
