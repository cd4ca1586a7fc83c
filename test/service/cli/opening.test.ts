import { cp, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join, relative } from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config/config.js';
import { createSealer } from '../../../src/crypto/encryption.js';
import { createKeyRingCheck } from '../../../src/crypto/key-ring-check.js';
import { followKeyRing } from '../../../src/crypto/key-ring.js';
import { openServices } from '../../../src/storage/open-storage.js';
import { createPgPool } from '../../../src/storage/postgres/pool.js';
import { startApp, startOwnApp } from '../../support/app.js';
import { makeOwnCommandLine, type CommandLine } from '../../support/cli.js';
import { makeOwnPlace, postgres, type EnginePlace } from '../../support/engines.js';

let c: CommandLine;
beforeEach(async () => {
  c = await makeOwnCommandLine();
});

const database = () => join(c.folder, 'keyfront.db');
const definition = () => c.file('definition.json', '{"alias":"x"}');

/** Commands that read only, then those that write; none of them may create an installation. */
const reading: readonly string[][] = [
  ['check'],
  ['backup', '/nonexistent/folder/backup'],
  ['keys', 'export'],
  ['credentials', 'list'],
  ['webhooks', 'list'],
  ['webhooks', 'dead', 'hook_1'],
  ['webhooks', 'test', 'hook_1'],
];
const writing: readonly string[][] = [
  ['credentials', 'rotate', 'cred_1'],
  ['credentials', 'revoke', 'cred_1'],
  ['secrets', 'rotate'],
  ['secrets', 'prune'],
  ['webhooks', 'add', '--to', 'http://127.0.0.1:1/'],
  ['webhooks', 'pause', 'hook_1'],
  ['webhooks', 'resume', 'hook_1'],
  ['webhooks', 'rotate', 'hook_1'],
  ['webhooks', 'remove', 'hook_1'],
  ['webhooks', 'replay', 'hook_1'],
  ['webhooks', 'discard', 'hook_1'],
];
/** Commands that can use a service instead. They exit with 2, because 1 means that there is no such key. */
const ofKeys: readonly string[][] = [
  ['get', 'k1'],
  ['diff', 'k1', 'FILE'],
  ['create', 'FILE', '--org', 'acme'],
  ['put', 'k1', 'FILE'],
  ['reset', 'k1'],
  ['delete', 'k1', '--yes'],
  ['undelete', 'k1'],
  ['history', 'k1'],
  ['revert', 'k1', '--to', '1'],
  ['list'],
  ['tail'],
];
const others = [...reading, ...writing].map((args) => ({ args, exit: 1 }));
const all = [...others, ...ofKeys.map((args) => ({ args, exit: 2 }))];

const filled = async (args: readonly string[]) => {
  const file = await definition();
  return args.map((arg) => (arg === 'FILE' ? file : arg));
};

/** The key check value of an installation whose heads have not begun. */
function checkValueWithoutHeads(): string {
  return createKeyRingCheck(createSealer(followKeyRing(join(c.folder, 'key-ring.json')))).seal(false);
}

describe('a command other than serve, credentials issue and keys import', () => {
  it.each(all)('names the missing data folder and creates nothing: $args', async ({ args, exit }) => {
    const { code, out, stderr } = await c.keyfront(await filled(args));
    expect([code, out]).toStrictEqual([exit, '']);
    expect(stderr).toContain(`There is no installation in ${c.folder}: the file keyfront.db does not exist. `);
    expect(stderr).toContain('Set KEYFRONT_DATA to the data folder of your installation.');
    if (exit === 2) expect(stderr).toMatch(/ To use a running service instead, pass --url\.\n$/);
    expect(existsSync(c.folder)).toBe(false);
  });

  it('names the absolute path of a relative KEYFRONT_DATA', async () => {
    const { code, stderr } = await c.keyfront(['check'], { KEYFRONT_DATA: relative(process.cwd(), c.folder) });
    expect(code).toBe(1);
    expect(stderr).toContain(`There is no installation in ${c.folder}: `);
  });

  it.each(all)('leaves a folder without a database unchanged: $args', async ({ args, exit }) => {
    await mkdir(c.folder, { mode: 0o700 });
    expect((await c.keyfront(await filled(args))).code).toBe(exit);
    expect(await readdir(c.folder)).toStrictEqual([]);
  });

  it.each(all)('leaves an empty database file unchanged: $args', async ({ args, exit }) => {
    await mkdir(c.folder, { mode: 0o700 });
    await writeFile(database(), '', { mode: 0o600 });
    const { code, stderr } = await c.keyfront(await filled(args));
    expect(code).toBe(exit);
    expect(stderr).toContain(`There is no installation in ${c.folder}: the file keyfront.db is empty. `);
    expect(await readFile(database())).toHaveLength(0);
    expect(existsSync(join(c.folder, 'key-ring.json'))).toBe(false);
  });

  describe.each([
    ['before the key check value', (): string | undefined => undefined],
    ['before the heads', checkValueWithoutHeads],
  ] as const)('after a first start that was interrupted %s', (_, checkValue) => {
    beforeEach(async () => {
      await c.keyfront(['credentials', 'issue', '--kind', 'service', '--label', 'x']);
      const connection = new Database(database());
      connection.exec("DELETE FROM credentials; DELETE FROM heads; DELETE FROM settings WHERE name = 'key_ring'");
      const value = checkValue();
      if (value !== undefined) connection.prepare("INSERT INTO settings VALUES ('key_ring', ?)").run(value);
      connection.close();
    });

    it.each([['check'], ['credentials', 'list'], ['secrets', 'rotate']])(
      'does not complete it: %s %s',
      async (...args) => {
        const { code, stderr } = await c.keyfront(args.filter((word) => typeof word === 'string'));
        expect([code, stderr]).toStrictEqual([
          1,
          `There is no complete installation in ${database()}: its first start was interrupted. Run \`keyfront serve\`.\n`,
        ]);
      },
    );

    it('leaves that to a start', async () => {
      await (await startApp({ KEYFRONT_DATA: c.folder })).close();
      expect(await c.keyfront(['check'])).toMatchObject({ code: 0, stderr: '0 keys verified, no problems found.\n' });
    });
  });
});

describe('a data folder that has a key ring and no database', () => {
  const settings = { PORT: '0', LOG_LEVEL: 'silent' };
  const ring = () => join(c.folder, 'key-ring.json');
  beforeEach(async () => {
    await c.importKeys([{ key_id: 'k1', org_id: 'acme' }]);
    for (const suffix of ['', '-wal', '-shm']) await rm(`${database()}${suffix}`, { force: true });
  });

  it.each([
    ['does not exist', async () => undefined],
    ['is empty', async () => writeFile(database(), '', { mode: 0o600 })],
  ])('becomes no new installation if the file %s, unless --allow-new permits it', async (state, prepare) => {
    await prepare();
    const before = [await readdir(c.folder), await readFile(ring(), 'utf8')];
    const file = await c.file('keys.jsonl', '{"key_id":"k1","org_id":"acme"}\n');
    for (const args of [
      ['serve'],
      ['serve', '--workers', '2'],
      ['init'],
      ['credentials', 'issue', '--kind', 'service', '--label', 'x'],
      ['keys', 'import', file],
    ]) {
      const { code, stderr } = await c.keyfront(args, settings);
      expect([args, code]).toStrictEqual([args, 1]);
      if (args.includes('--workers')) continue;
      expect(stderr).toContain(`The database ${database()} ${state}, but there is its key ring: ${ring()}. `);
      expect(stderr).toContain('`keyfront serve --allow-new`');
    }
    expect([await readdir(c.folder), await readFile(ring(), 'utf8')]).toStrictEqual(before);
    expect((await c.keyfront(['serve', '--allow-new'], settings)).code).toBe(0);
    expect((await c.keyfront(['serve'], settings)).code).toBe(0);
    expect((await c.keyfront(['check'])).stderr).toContain('0 keys verified, no problems found.');
  });
});

describe('a command that only reads', () => {
  const commands = () => [
    ['check'],
    ['keys', 'export'],
    ['credentials', 'list'],
    ['webhooks', 'list'],
    ['backup', join(dirname(c.folder), `backup-${Math.random()}`)],
    ['get', 'k1'],
    ['history', 'k1'],
  ];
  const withKey = () => c.importKeys([{ key_id: 'k1', org_id: 'acme' }]);
  const content = async () => {
    const names = (await readdir(c.folder)).filter((name) => !name.endsWith('-shm')).toSorted();
    const files = await Promise.all(names.map(async (name) => [name, await readFile(join(c.folder, name))] as const));
    // SQLite leaves an empty log beside a file that was only read.
    return files.filter(([name, bytes]) => !(name.endsWith('-wal') && bytes.length === 0));
  };

  it('creates no key ring and changes no byte of a file', async () => {
    await withKey();
    const before = await content();
    for (const args of commands()) expect([args[0], (await c.keyfront(args)).code]).toStrictEqual([args[0], 0]);
    expect(await content()).toStrictEqual(before);
    const elsewhere = { KEYFRONT_KEY_RING: join(c.folder, 'missing.json') };
    for (const args of commands()) {
      expect((await c.keyfront(args, elsewhere)).stderr).toContain(`${elsewhere.KEYFRONT_KEY_RING} does not exist`);
    }
    expect(await content()).toStrictEqual(before);
  });

  it('reads the log of a killed service and leaves it unchanged', async () => {
    const t = await startApp({ KEYFRONT_DATA: c.folder });
    await t.importKeys({ key_id: 'k1', org_id: 'acme' }, { key_id: 'k2', org_id: 'acme' });
    const copy = join(dirname(c.folder), 'killed');
    await mkdir(copy, { mode: 0o700 });
    for (const name of ['keyfront.db', 'keyfront.db-wal', 'key-ring.json']) {
      await cp(join(c.folder, name), join(copy, name));
    }
    await t.close();
    const bytes = () => Promise.all(['', '-wal'].map((suffix) => readFile(join(copy, `keyfront.db${suffix}`))));
    const before = await bytes();
    expect(before[1]?.length).toBeGreaterThan(0);
    expect(await c.keyfront(['check'], { KEYFRONT_DATA: copy })).toMatchObject({
      code: 0,
      stderr: '2 keys verified, no problems found.\n',
    });
    expect(await bytes()).toStrictEqual(before);
  });

  it('cannot write to the database', async () => {
    await withKey();
    const { config, secrets } = readConfig({ KEYFRONT_DATA: c.folder });
    const installation = await openServices(config, secrets, {}, { access: 'read' });
    await expect(installation.credentials.revoke('cred_1', new Date())).resolves.toBe(false);
    await expect(installation.resealKeyRingCheck()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await installation.close();
  });
});

describe('KEYFRONT_QUOTA_URL', () => {
  it('is used only by commands that need live counters', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const env = { KEYFRONT_QUOTA_URL: `redis://127.0.0.1:${port}` };
    const file = await c.file('keys.jsonl', '{"key_id":"k1","org_id":"acme"}\n');
    const codes = [];
    for (const args of [
      ['keys', 'import', file],
      ['credentials', 'issue', '--kind', 'service', '--label', 'x'],
      ['check'],
      ['backup', join(dirname(c.folder), 'backup')],
      ['credentials', 'list'],
      ['webhooks', 'list'],
      ['secrets', 'rotate'],
      ['secrets', 'prune'],
    ]) {
      codes.push((await c.keyfront(args, env)).code);
    }
    expect([connections, codes]).toStrictEqual([0, [0, 0, 0, 0, 0, 0, 0, 0]]);
    // What an export shows of a quota is in Redis.
    await c.keyfront(['keys', 'export'], env);
    expect(connections).toBeGreaterThan(0);
    server.close();
  });
});

describe.skipIf(postgres.isMissing)(`an empty database of ${postgres.name}`, () => {
  let place: EnginePlace;
  beforeEach(async () => {
    place = await makeOwnPlace(postgres, { isEmpty: true });
  });

  it('stays empty and is named by every command that cannot create an installation', async () => {
    for (const { args, exit } of all) {
      // A backup is not made of it at all.
      const { code, stderr } = await c.keyfront(await filled(args), place.env);
      expect([args, code]).toStrictEqual([args, exit]);
      expect(stderr).toContain('There is no installation in the database ');
      expect(stderr).toContain('Set KEYFRONT_DATABASE_URL to the database of your installation.');
    }
    expect(await place.database?.run('SELECT tablename FROM pg_tables WHERE schemaname = current_schema()')).toEqual(
      [],
    );
    expect(await readdir(place.folder)).toStrictEqual([]);
  });

  it('is written by the commands for a key, without a SQLite file', async () => {
    await (await startApp(place.env)).close();
    const file = await c.file('billing.json', '{"org_id":"acme","alias":"Billing"}');
    expect(await c.keyfront(['put', 'billing', file, '--create', '--reason', 'a test'], place.env)).toMatchObject({
      code: 0,
    });
    expect((await c.keyfront(['get', 'billing'], place.env)).out).toMatch(/"alias": ?"Billing"/);
    expect((await c.keyfront(['history', 'billing'], place.env)).out).toContain('a test');
    expect((await c.keyfront(['keys', 'export'], place.env)).out).toContain('"alias":"Billing"');
  });

  it('is backed up and restored by the tools of PostgreSQL, which the commands name', async () => {
    await (await startApp(place.env)).close();
    for (const [command, tool] of [
      ['backup', 'pg_dump'],
      ['restore', 'pg_restore'],
    ]) {
      const { code, stderr } = await c.keyfront([String(command), `${c.folder}-backup`], place.env);
      expect([code, stderr]).toStrictEqual([1, expect.stringContaining(String(tool))]);
    }
  });

  it('is written by no command that only reads', async () => {
    await (await startApp(place.env)).close();
    for (const args of [['check'], ['credentials', 'list'], ['keys', 'export'], ['webhooks', 'list']]) {
      expect([args, (await c.keyfront(args, place.env)).code]).toStrictEqual([args, 0]);
    }
    const { config, secrets } = readConfig(place.env);
    const installation = await openServices(config, secrets, {}, { access: 'read' });
    await expect(installation.resealKeyRingCheck()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await installation.close();
  });

  it('is served without a warning about a large file in the data folder', async () => {
    await (await startApp(place.env)).close();
    await writeFile(join(place.folder, 'keyfront.db'), '', { mode: 0o600 });
    await truncate(join(place.folder, 'keyfront.db'), 600 * 1024 * 1024);
    expect((await startOwnApp(place.env)).logs()).not.toContain('too large');
  });

  it('is not created beside a data folder that holds an installation, unless --allow-new permits it', async () => {
    await c.create();
    const env = { ...place.env, KEYFRONT_DATA: c.folder };
    const file = await c.file('keys.jsonl', '{"key_id":"k1","org_id":"acme"}\n');
    const issue = ['credentials', 'issue', '--kind', 'service', '--label', 'x'];
    const serve = ['serve'];
    for (const args of [serve, [...serve, '--workers', '2'], issue, ['keys', 'import', file]]) {
      const { code, stderr } = await c.keyfront(args, { ...env, PORT: '0', LOG_LEVEL: 'silent' });
      expect([args, code]).toStrictEqual([args, 1]);
      if (args.includes('--workers')) continue;
      expect(stderr).toContain(`is empty, but the data folder holds an installation: ${database()}. `);
    }
    const tables = 'SELECT tablename FROM pg_tables WHERE schemaname = current_schema()';
    expect(await place.database?.run(tables)).toEqual([]);
    const settings = { ...env, PORT: '0', LOG_LEVEL: 'silent' };
    expect((await c.keyfront(['serve', '--allow-new'], settings)).code).toBe(0);
    // It exists now, and needs no permission any more.
    expect((await c.keyfront(serve, settings)).code).toBe(0);
    expect((await c.keyfront(['check'], env)).code).toBe(0);
  });

  it('is not written by a session that only reads', async () => {
    const connections = createPgPool(place.env['KEYFRONT_DATABASE_URL'] ?? '', 'test', { isReadOnly: true });
    await expect(connections.run((session) => session.write('CREATE TABLE t (a int)'))).rejects.toThrow('read-only');
    await connections.close();
  });
});
