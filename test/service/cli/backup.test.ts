import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { startApp, startOwnApp, type TestApp } from '../../support/app.js';
import { makeOwnCommandLine, type CommandLine } from '../../support/cli.js';
import { tamper } from '../../support/tamper.js';
import { until } from '../../support/until.js';
import { rowIDOf } from '../../support/factories.js';

let c: CommandLine;
let t: TestApp;
let target: string;
let fresh: string;
beforeEach(async () => {
  c = await makeOwnCommandLine();
  target = join(c.folder, '..', 'backup');
  fresh = join(c.folder, '..', 'fresh');
  t = await startOwnApp({ KEYFRONT_DATA: c.folder });
  await t.importKeys(
    { key_id: 'k1', org_id: 'acme', alias: 'one', hmac_string: 'Xq7-hmac', jwt_data: { secret: 'Xq7-jwt' } },
    { key_id: 'k2', org_id: 'acme', quota_max: 10 },
  );
  await t.update('k1', { alias: 'two' });
});

const ring = () => join(c.folder, 'key-ring.json');
const backUp = (folder = target) => c.keyfront(['backup', folder]);
const hash = (keyID: string) => t.app.services.ports.hashKeyID(keyID);
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

/** A new data folder with nothing but the key ring in it, and a restore into it. */
async function restore(from = target, withRing = ring()) {
  await mkdir(fresh, { mode: 0o700, recursive: true });
  if (withRing !== '') await cp(withRing, join(fresh, 'key-ring.json'));
  return c.keyfront(['restore', from], { KEYFRONT_DATA: fresh });
}

async function manifest(): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(join(target, 'manifest.json'), 'utf8')) as Record<string, unknown>;
}

const filesIn = async (folder: string) =>
  Promise.all(
    (await readdir(folder)).toSorted().map(async (name) => [name, sha256(await readFile(join(folder, name)))]),
  );

describe('D-11 keyfront backup', () => {
  it('creates one private folder with a manifest and without the key ring', async () => {
    const { code, out, stderr } = await backUp();
    expect([code, out]).toStrictEqual([0, '']);
    expect(stderr).toBe(
      `2 keys backed up and verified. Its newest change is version 2 of ${hash('k1')}, made at 2026-01-31T12:00:00.000Z.\n` +
        `This backup cannot be decrypted without the key ring. Back up ${ring()} separately.\n`,
    );
    expect((await readdir(target)).sort()).toStrictEqual(['keyfront.db', 'manifest.json']);
    expect(await modeOf(target)).toBe('700');
    for (const name of await readdir(target)) expect(await modeOf(join(target, name))).toBe('600');
    const copy = await readFile(join(target, 'keyfront.db'));
    expect(await manifest()).toStrictEqual({
      created: expect.stringMatching(/^20\d\d-\d\d-\d\dT[\d:.]+Z$/),
      schemaVersion: expect.any(Number),
      keys: 2,
      newestChange: { at: '2026-01-31T12:00:00.000Z', keyHash: hash('k1'), version: 2 },
      keyRing: ['k1'],
      bytes: copy.length,
      sha256: sha256(copy),
    });
    const text = `${copy.toString('latin1')}${await readFile(join(target, 'manifest.json'), 'latin1')}${stderr}`;
    for (const secret of ['Xq7-', t.service, t.management]) expect(text).not.toContain(secret);
  });

  it('shows its progress on a terminal', async () => {
    const { stderr } = await c.keyfront(['backup', target], {}, true);
    expect(stderr).toMatch(/\r\d+ keys? verified …/);
  });

  it('contains every change that was acknowledged before it started, and no others, while services write', async () => {
    let isOver = false;
    const completed = new Map<string, number>();
    const sent = new Map<string, number>();
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let round = 0; !isOver; round += 1) {
        const keyID = `w${writer}-${round % 20}`;
        const version = (completed.get(keyID) ?? 0) + 1;
        sent.set(keyID, version);
        const body = JSON.stringify({ org_id: 'acme', alias: `version ${version}`, hmac_string: `secret ${version}` });
        const headers = { 'content-type': 'application/json', 'x-svc-authorization': t.service };
        const method = version === 1 ? 'POST' : 'PUT';
        expect((await t.send(`/svc/org/keys/${keyID}`, { method, headers, body })).status).toBe(200);
        completed.set(keyID, version);
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    await until(() => completed.size > 20);
    const before = new Map(completed);
    expect((await backUp()).code).toBe(0);
    await until(() => !isDeepStrictEqual(completed, before));
    isOver = true;
    await Promise.all(writers);

    expect((await restore()).code).toBe(0);
    const restored = await startOwnApp({ KEYFRONT_DATA: fresh });
    for (const [keyID, version] of before) {
      const found = await restored.app.services.store.find(hash(keyID));
      expect(found?.version).toBeGreaterThanOrEqual(version);
      expect(found?.version).toBeLessThanOrEqual(sent.get(keyID) ?? 0);
      expect(found?.definition.alias).toBe(`version ${found?.version}`);
      const opened = restored.app.services.ports.open(
        found?.secrets.hmacString ?? new Uint8Array(),
        `keys|${hash(keyID)}|hmacString`,
      );
      expect(opened).toBe(`secret ${found?.version}`);
    }
  });

  it('names the damage of a damaged database and leaves no files', async () => {
    tamper(join(c.folder, 'keyfront.db'), `UPDATE keys SET quota_used = 9 WHERE id = ${rowIDOf(hash('k2'))}`);
    const { code, stderr } = await backUp();
    expect(code).toBe(1);
    expect(stderr).toBe(
      `The key ${hash('k2')} fails the integrity check.\n` + 'No backup was made: the database is damaged.\n',
    );
    expect((await readdir(join(target, '..'))).sort()).toStrictEqual(['data']);
  });

  it('leaves an interrupted backup under another name, which blocks the next one and cannot be restored', async () => {
    await backUp();
    await rename(target, `${target}.incomplete`);
    await rm(join(`${target}.incomplete`, 'manifest.json'));
    const { code, stderr } = await backUp();
    expect([code, stderr]).toStrictEqual([
      1,
      `${target}.incomplete exists: another backup is running or was interrupted. If none is running, remove it and try again.\n`,
    ]);
    expect(await restore(`${target}.incomplete`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${target}.incomplete is not a complete backup`),
    });
    await rm(`${target}.incomplete`, { recursive: true });
    expect((await backUp()).code).toBe(0);
  });

  it('fails if the parent folder does not exist', async () => {
    const { code, stderr } = await backUp(join(target, 'deeper'));
    expect([code, stderr]).toStrictEqual([
      1,
      `Cannot create a backup in ${target}: the folder does not exist. Create it, or correct the path.\n`,
    ]);
  });

  it.each([['backup'], ['restore']])('rejects %s without exactly one folder', async (command) => {
    expect(await c.keyfront([command])).toMatchObject({
      code: 2,
      stderr: `error: missing required argument 'DIR'\nUsage: keyfront ${command} DIR\n`,
    });
    expect((await c.keyfront([command, 'one', 'two'])).code).toBe(2);
  });
});

describe('D-12 keyfront restore', () => {
  it('restores keys, credentials, histories and secrets, and names the newest change', async () => {
    await backUp();
    const page = async (app: TestApp) => {
      const headers = { 'x-svc-authorization': t.service };
      return (await app.send('/svc/org/keys', { headers })).text;
    };
    const before = await page(t);
    await t.update('k1', { alias: 'later' });
    const { code, out, stderr } = await restore();
    expect([code, out]).toStrictEqual([0, '']);
    expect(stderr).toBe(
      `2 keys restored and verified. Its newest change is version 2 of ${hash('k1')}, made at 2026-01-31T12:00:00.000Z. ` +
        'Later changes are lost.\n',
    );
    expect((await readdir(fresh)).sort()).toStrictEqual(['key-ring.json', 'keyfront.db']);
    expect(await modeOf(join(fresh, 'keyfront.db'))).toBe('600');
    expect(await c.keyfront(['check'], { KEYFRONT_DATA: fresh })).toMatchObject({ code: 0 });
    const restored = await startApp({ KEYFRONT_DATA: fresh });
    expect(await page(restored)).toBe(before);
    expect((await restored.update('k1', { alias: 'after' }, '', { 'x-svc-authorization': t.service })).status).toBe(
      200,
    );
    await restored.close();
    const exported = await c.keyfront(['keys', 'export', '--with-secrets'], { KEYFRONT_DATA: fresh });
    expect(exported.out).toContain('"hmac_string":"Xq7-hmac"');
  });

  it('creates the data folder if it does not exist and the key ring is elsewhere', async () => {
    await backUp();
    const env = { KEYFRONT_DATA: fresh, KEYFRONT_KEY_RING: ring() };
    expect((await c.keyfront(['restore', target], env)).code).toBe(0);
    expect(await modeOf(fresh)).toBe('700');
    expect((await c.keyfront(['check'], env)).code).toBe(0);
  });

  it('rejects a folder that contains more than a key ring, with advice', async () => {
    await backUp();
    const before = await filesIn(c.folder);
    const { code, stderr } = await c.keyfront(['restore', target]);
    expect(code).toBe(1);
    expect(stderr).toContain(`The data folder ${c.folder} is not empty: it contains keyfront.db`);
    expect(stderr).toContain(
      'Stop the service, move the folder away, copy only the key ring to a new one, and restore again.',
    );
    expect(await filesIn(c.folder)).toStrictEqual(before);
  });

  it('requires the key ring of the backup and rejects another one', async () => {
    await backUp();
    const missing = await restore(target, '');
    expect([missing.code, missing.stderr]).toStrictEqual([
      1,
      `The backup cannot be decrypted without its key ring (k1). Copy the key ring to ${join(fresh, 'key-ring.json')} first.\n`,
    ]);
    const other = await makeOwnCommandLine();
    await other.keyfront(['credentials', 'issue', '--kind', 'service', '--label', 'x']);
    const { code, stderr } = await restore(target, join(other.folder, 'key-ring.json'));
    expect(code).toBe(1);
    expect(stderr).toContain('is not the one that the database');
    expect(await readdir(fresh)).toStrictEqual(['key-ring.json']);
  });

  it('restores with the key ring of a later rotation, but not after a prune', async () => {
    await backUp();
    await c.keyfront(['secrets', 'rotate']);
    expect((await restore()).code).toBe(0);
    expect((await c.keyfront(['check'], { KEYFRONT_DATA: fresh })).code).toBe(0);
    await rm(fresh, { recursive: true });
    await c.keyfront(['secrets', 'prune']);
    expect(await restore()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('contains none of the keys of the backup (k1)'),
    });
  });

  it.each<[string, () => Promise<void>, string]>([
    ['has another byte', async () => flip(join(target, 'keyfront.db')), 'does not match its manifest'],
    [
      'is cut off',
      async () =>
        writeFile(join(target, 'keyfront.db'), (await readFile(join(target, 'keyfront.db'))).subarray(0, -4096)),
      'does not match its manifest',
    ],
    ['has lost its manifest', async () => rm(join(target, 'manifest.json')), 'is not a complete backup'],
    [
      'has half a manifest',
      async () => writeFile(join(target, 'manifest.json'), '{"keys": 2'),
      'is not a complete backup',
    ],
    [
      'was altered, and its manifest with it',
      async () => alter('UPDATE keys SET quota_used = 0, version = 1 WHERE version = 2'),
      'fails the integrity check',
    ],
    [
      'has a FIFO without a writer as its manifest',
      async () => replaceByFIFO(join(target, 'manifest.json')),
      'manifest.json is missing, unreadable or not a regular file',
    ],
    [
      'has a FIFO without a writer as its database',
      async () => replaceByFIFO(join(target, 'keyfront.db')),
      'keyfront.db must be a regular file',
    ],
    ['is of a newer Keyfront', async () => alter('PRAGMA user_version = 199'), 'it has schema version 199'],
  ])('restores nothing if the backup %s', async (_, damage, words) => {
    await backUp();
    await damage();
    expect(await restore()).toMatchObject({ code: 1, stderr: expect.stringContaining(words) as string });
    expect(await readdir(fresh)).toStrictEqual(['key-ring.json']);
  });

  it('leaves a folder in which no service starts if it is interrupted, and can run again', async () => {
    await backUp();
    await mkdir(fresh, { mode: 0o700 });
    await cp(ring(), join(fresh, 'key-ring.json'));
    await writeFile(join(fresh, 'keyfront.db.restoring'), 'half of a database', { mode: 0o600 });
    const { code, stderr } = await c.keyfront(['serve'], { KEYFRONT_DATA: fresh, PORT: '0', LOG_LEVEL: 'silent' });
    expect([code, stderr]).toStrictEqual([
      1,
      `A restore into ${join(fresh, 'keyfront.db')} was cut short. Run \`keyfront restore\` again.\n`,
    ]);
    expect((await restore()).code).toBe(0);
    expect((await readdir(fresh)).sort()).toStrictEqual(['key-ring.json', 'keyfront.db']);
  });
});

async function replaceByFIFO(file: string): Promise<void> {
  await rm(file);
  execFileSync('mkfifo', [file]);
}

async function flip(file: string): Promise<void> {
  const bytes = await readFile(file);
  bytes[5000] = (bytes[5000] ?? 0) ^ 1;
  await writeFile(file, bytes);
}

/** Changes a backup and its manifest consistently. */
async function alter(statement: string): Promise<void> {
  const file = join(target, 'keyfront.db');
  const database = new Database(file);
  database.exec(statement);
  database.close();
  const bytes = await readFile(file);
  const changed = { ...(await manifest()), bytes: bytes.length, sha256: sha256(bytes) };
  await writeFile(join(target, 'manifest.json'), JSON.stringify(changed));
}
