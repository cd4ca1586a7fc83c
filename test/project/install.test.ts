import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installFolder } from '../support/install.mjs';

const module = new URL('../support/install.mjs', import.meta.url).href;
const lockOf = (version: string) => ({
  name: 'folder',
  lockfileVersion: 3,
  packages: {
    '': { dependencies: { [version]: `file:../${version}` } },
    [`../${version}`]: { version: '1.0.0' },
    [`node_modules/${version}`]: { resolved: `../${version}`, link: true },
  },
});

let place: string;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'keyfront-install-'));
  for (const name of ['first', 'second', 'folder']) await mkdir(join(place, name));
  for (const name of ['first', 'second']) await write(join(name, 'package.json'), { name, version: '1.0.0' });
});
afterAll(() => rm(place, { recursive: true }));

const folder = () => join(place, 'folder');
const write = (path: string, value: unknown) => writeFile(join(place, path), JSON.stringify(value));
async function lock(name: string) {
  await write('folder/package.json', { name: 'folder', dependencies: { [name]: `file:../${name}` } });
  await write('folder/package-lock.json', lockOf(name));
}
const isInstalled = (name: string) => existsSync(join(folder(), 'node_modules', name, 'package.json'));

describe('installFolder', () => {
  it('installs once for two concurrent processes, and leaves nothing else behind', async () => {
    await lock('first');
    const call = `import(${JSON.stringify(module)}).then((m) => m.installFolder(${JSON.stringify(folder())}))`;
    await Promise.all([1, 2].map(() => promisify(execFile)(process.execPath, ['-e', call])));
    expect(isInstalled('first')).toBe(true);
    expect((await readdir(place)).toSorted()).toEqual(['first', 'folder', 'second']);
  });

  it('replaces the packages of an older lockfile', async () => {
    await lock('second');
    installFolder(folder());
    expect([isInstalled('first'), isInstalled('second')]).toEqual([false, true]);
  });

  it('does nothing when the packages of this lockfile are installed', async () => {
    const PATH = process.env['PATH'];
    process.env['PATH'] = '';
    try {
      installFolder(folder());
    } finally {
      process.env['PATH'] = PATH;
    }
    expect(isInstalled('second')).toBe(true);
  });

  it('throws if npm fails, and keeps the existing packages', async () => {
    await write('folder/package-lock.json', { lockfileVersion: 3, packages: {} });
    expect(() => installFolder(folder())).toThrow('npm ci');
    expect(isInstalled('second')).toBe(true);
    expect((await readdir(place)).toSorted()).toEqual(['first', 'folder', 'second']);
  });
});
