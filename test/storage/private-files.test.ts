import { chmod, chown, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { startOwnApp } from '../support/app.js';
import { makeOwnCommandLine, type CommandLine } from '../support/cli.js';
import { temporaryFolder } from '../support/folder.js';

let c: CommandLine;
beforeEach(async () => {
  c = await makeOwnCommandLine();
});

const database = () => join(c.folder, 'keyfront.db');
/** A command that creates an installation. */
const issue = ['credentials', 'issue', '--kind', 'service', '--label', 'x'];
const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

async function filled(): Promise<void> {
  const file = await c.file('keys.jsonl', '{"key_id":"k1","org_id":"acme"}\n');
  expect((await c.keyfront(['keys', 'import', file])).code).toBe(0);
}

describe('D-13 a data folder', () => {
  it('is created for its owner alone, with all its files', async () => {
    const t = await startOwnApp({ KEYFRONT_DATA: c.folder });
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    expect(await modeOf(c.folder)).toBe('700');
    const names = await readdir(c.folder);
    expect(names.sort()).toStrictEqual(['key-ring.json', 'keyfront.db', 'keyfront.db-shm', 'keyfront.db-wal']);
    for (const name of names) expect(`${name} ${await modeOf(join(c.folder, name))}`).toBe(`${name} 600`);
  });

  it.each([
    ['the folder', () => c.folder, 0o750, '700'],
    ['the folder', () => c.folder, 0o701, '700'],
    ['the database', database, 0o640, '600'],
    ['the database', database, 0o602, '600'],
    ['the key ring', () => join(c.folder, 'key-ring.json'), 0o604, '600'],
  ])('is rejected when others can access %s, with the command that repairs it', async (_, path, mode, wanted) => {
    await filled();
    await chmod(path(), mode);
    for (const args of [['serve'], ['check'], ['keys', 'export'], ['credentials', 'list']]) {
      const { code, out, stderr } = await c.keyfront(args, { PORT: '0', LOG_LEVEL: 'silent' });
      expect([code, out]).toStrictEqual([1, '']);
      expect(stderr).toMatch(/^[^\n]+\n$/);
      expect(stderr).toContain(`${path()} is open to other users. Run: chmod ${wanted} ${path()}`);
    }
    await chmod(path(), wanted === '700' ? 0o700 : 0o600);
    expect((await c.keyfront(['check'])).code).toBe(0);
  });

  it('is rejected when a leftover log is open to others', async () => {
    await filled();
    await writeFile(`${database()}-wal`, '', { mode: 0o644 });
    await chmod(`${database()}-wal`, 0o644);
    expect((await c.keyfront(['check'])).stderr).toContain(`Run: chmod 600 ${database()}-wal`);
  });
});

describe('D-06 a data folder', () => {
  it('is rejected by name when its parent does not exist, and nothing is created', async () => {
    const parent = join(c.folder, 'not', 'here');
    const { code, stderr } = await c.keyfront(issue, { KEYFRONT_DATA: parent });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^The database [^\n]*keyfront\.db cannot be opened: The folder [^\n]* does not exist\. Create it[^\n]*\n$/,
    );
    expect(stderr).toContain(parent);
    expect(await readdir(join(c.folder, '..'))).toStrictEqual([]);
  });

  const isRoot = process.getuid?.() === 0;
  const otherUser = 65534;
  let own: string;
  beforeEach(async () => {
    own = await temporaryFolder();
  });

  /** Runs a command as another user, who owns only the files that a test gives to it. */
  async function asNobody(folder: string): Promise<{ code: number; stderr: string }> {
    process.seteuid?.(otherUser);
    try {
      return await c.keyfront(issue, { KEYFRONT_DATA: folder });
    } finally {
      process.seteuid?.(0);
    }
  }

  it.skipIf(!isRoot).each([
    ['belongs to another user', async () => undefined],
    ['contains a database of another user', async () => chown(own, otherUser, otherUser)],
    [
      'may not be written',
      async () => {
        await rm(join(own, 'keyfront.db'));
        await chown(own, otherUser, otherUser);
        await chmod(own, 0o500);
      },
    ],
    [
      'holds a database that may not be written',
      async () => {
        await chown(own, otherUser, otherUser);
        await chown(join(own, 'keyfront.db'), otherUser, otherUser);
        await chmod(join(own, 'keyfront.db'), 0o400);
      },
    ],
  ])('is rejected in one line that names it when %s (needs root, to be another user)', async (_, arrange) => {
    await writeFile(join(own, 'keyfront.db'), '', { mode: 0o600 });
    await arrange();
    const { code, stderr } = await asNobody(own);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^The database [^\n]*keyfront\.db cannot be opened: [^\n]*(EACCES|permission denied)[^\n]*\n$/,
    );
    expect(stderr).toContain(own);
  });
});
