import fs from 'node:fs';
import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  createDurableFile,
  replaceDurableFile,
  syncFile,
  syncName,
  writeDurableFile,
} from '../../../src/lib/durable-file.js';
import { temporaryFolder } from '../../support/folder.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  path = join(folder, 'file');
});

const names = async () => (await readdir(folder)).toSorted();

/** The calls that make a change durable, in their order, until the end of the test. `fail` throws at the first of a name. */
function watch(fail?: string): string[] {
  const calls: string[] = [];
  const opened = new Map<number, string>();
  const { openSync, fsyncSync, closeSync, linkSync, renameSync } = fs;
  const original = { openSync, fsyncSync, closeSync, linkSync, renameSync };
  const noted = (name: string, of: string) => {
    calls.push(`${name} ${of === folder ? 'folder' : basename(of).replace(/[\da-f-]{36}/, 'ID')}`);
    if (name === fail) throw Object.assign(new Error('it fails'), { code: 'EIO' });
  };
  fs.openSync = (of, ...rest) => {
    const file = original.openSync(of, ...rest);
    opened.set(file, String(of));
    return file;
  };
  fs.fsyncSync = (file) => {
    noted('sync', opened.get(file) ?? '');
    original.fsyncSync(file);
  };
  fs.closeSync = (file) => {
    calls.push(`close ${opened.get(file) === folder ? 'folder' : 'file'}`);
    original.closeSync(file);
  };
  fs.linkSync = (from, to) => {
    noted('link', String(to));
    original.linkSync(from, to);
  };
  fs.renameSync = (from, to) => {
    noted('rename', String(to));
    original.renameSync(from, to);
  };
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, original);
    syncBuiltinESMExports();
  });
  return calls;
}

const folderIsSynced = ['sync folder', 'close folder'];

describe('a file that is created', () => {
  it('is synced before it gets its name, and its folder afterwards', async () => {
    const calls = watch();
    createDurableFile(path, 'content');
    expect(calls).toStrictEqual(['sync file.ID.new', 'close file', 'link file', ...folderIsSynced]);
    expect(await readFile(path, 'utf8')).toBe('content');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await names()).toStrictEqual(['file']);
  });

  it('replaces no other file, and leaves no draft', async () => {
    await writeFile(path, 'other');
    expect(() => createDurableFile(path, 'content')).toThrow(expect.objectContaining({ code: 'EEXIST' }));
    expect(await readFile(path, 'utf8')).toBe('other');
    expect(await names()).toStrictEqual(['file']);
  });

  it.each(['sync', 'link'])('does not exist if the %s fails', async (fail) => {
    watch(fail);
    expect(() => createDurableFile(path, 'content')).toThrow('it fails');
    expect(await names()).toStrictEqual([]);
  });
});

describe('a file that is replaced', () => {
  beforeEach(() => writeFile(path, 'old', { mode: 0o600 }));

  it('is synced before it takes the name of the old one, and its folder afterwards', async () => {
    const calls = watch();
    replaceDurableFile(path, () => 'new');
    expect(calls).toStrictEqual(['sync file.new', 'close file', 'rename file', ...folderIsSynced]);
    expect(await readFile(path, 'utf8')).toBe('new');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await names()).toStrictEqual(['file']);
  });

  it('keeps a symbolic link to it, and syncs the folder of its target', async () => {
    const link = join(await temporaryFolder(), 'link');
    await symlink(path, link);
    const calls = watch();
    replaceDurableFile(link, () => 'new');
    expect(calls.slice(-3)).toStrictEqual(['rename file', ...folderIsSynced]);
    expect((await stat(link)).ino).toBe((await stat(path)).ino);
    expect(await readFile(path, 'utf8')).toBe('new');
  });

  it.each(['sync', 'rename'])('is the old one if the %s fails, and the next attempt succeeds', async (fail) => {
    watch(fail);
    expect(() => replaceDurableFile(path, () => 'new')).toThrow('it fails');
    expect(await readFile(path, 'utf8')).toBe('old');
    expect(await names()).toStrictEqual(['file']);
  });

  it('is the old one if its content cannot be made, or while another process replaces it', async () => {
    const fail = () => {
      throw new Error('no content');
    };
    expect(() => replaceDurableFile(path, fail)).toThrow('no content');
    expect(await names()).toStrictEqual(['file']);
    await writeFile(`${path}.new`, 'of another process');
    expect(() => replaceDurableFile(path, () => 'new')).toThrow(expect.objectContaining({ code: 'EEXIST' }));
    expect(await readFile(`${path}.new`, 'utf8')).toBe('of another process');
    expect(await readFile(path, 'utf8')).toBe('old');
  });
});

describe('a file that one process writes', () => {
  it.each(['absent', 'old'])('is synced before it gets its name, if it was %s', async (before) => {
    if (before === 'old') await writeFile(path, 'old');
    const calls = watch();
    writeDurableFile(path, 'new');
    expect(calls).toStrictEqual(['sync file.new', 'close file', 'rename file', ...folderIsSynced]);
    expect(await readFile(path, 'utf8')).toBe('new');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await names()).toStrictEqual(['file']);
  });

  it('replaces the draft that a killed process left', async () => {
    await writeFile(`${path}.new`, 'half');
    writeDurableFile(path, 'new');
    expect(await readFile(path, 'utf8')).toBe('new');
    expect(await names()).toStrictEqual(['file']);
  });

  it.each(['sync', 'rename'])('is the old one if the %s fails', async (fail) => {
    await writeFile(path, 'old');
    watch(fail);
    expect(() => writeDurableFile(path, 'new')).toThrow('it fails');
    expect(await readFile(path, 'utf8')).toBe('old');
    expect(await names()).toStrictEqual(['file']);
  });
});

describe.each([
  ['a file', syncFile, 'sync file', 'close file'],
  ['the folder of a file', syncName, 'sync folder', 'close folder'],
] as const)('%s', (_, sync, synced, closed) => {
  it('is synced and closed', async () => {
    await writeFile(path, 'content');
    const calls = watch();
    sync(path);
    expect(calls).toStrictEqual([synced, closed]);
  });

  it('is closed if it cannot be synced', async () => {
    await writeFile(path, 'content');
    const calls = watch('sync');
    expect(() => sync(path)).toThrow('it fails');
    expect(calls).toStrictEqual([synced, closed]);
  });
});
