import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createKeyRingFile } from '../../../src/crypto/key-ring.js';
import { hasFreeSpace } from '../../../src/storage/sqlite/maintenance.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { temporaryFolder } from '../../support/folder.js';

let folder: string;
let t: TestApp;
beforeEach(async () => {
  folder = await temporaryFolder();
  t = await startOwnApp({ KEYFRONT_DATA: folder });
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => void vi.useRealTimers());

/** The time between two looks, of which none passes by itself here. */
const passSecond = () => void vi.advanceTimersByTime(1_000);

/** Does something to the database that the service has open. */
function onDatabase(statements: string): void {
  const database = new Database(join(folder, 'keyfront.db'));
  database.exec(statements);
  database.close();
}

async function ready(): Promise<string> {
  const { status, text } = await t.send('/ready');
  expect((await t.send('/health')).status).toBe(200);
  return `${status} ${text}`;
}

describe('O-02 /ready returns 503, without a reason for clients and with one in the log,', () => {
  it.each<[string, () => void | Promise<void>, string]>([
    [
      'where the database takes no change',
      () => onDatabase("CREATE TRIGGER full BEFORE INSERT ON settings BEGIN SELECT RAISE(FAIL, 'disk is full'); END"),
      'not ready: the database accepts no writes (disk is full)',
    ],
    [
      'where the schema is that of an older version',
      () => onDatabase('PRAGMA user_version = 0'),
      'not ready: the database has the schema of an older version',
    ],
    [
      'where the key ring is another',
      async () => {
        await rm(join(folder, 'key-ring.json'));
        createKeyRingFile(join(folder, 'key-ring.json'), new Date());
      },
      'not ready: the key ring does not open the key check value',
    ],
    [
      'where the key ring is gone',
      () => rm(join(folder, 'key-ring.json')),
      'not ready: the key ring file cannot be used',
    ],
  ])('%s', async (_what, spoil, reason) => {
    expect(await ready()).toBe('200 ready\n');
    await spoil();
    passSecond();
    expect(await ready()).toBe('503 not ready\n');
    expect(t.logs()).toContain(reason);
    expect(t.logs().match(/not ready/g)).toHaveLength(1);
    await ready();
    expect(t.logs().match(/not ready/g)).toHaveLength(1);
  });

  it('but serves requests with the key ring that it has read while another is copied over it', async () => {
    const file = join(folder, 'key-ring.json');
    const text = await readFile(file, 'utf8');
    const [{ key }] = (JSON.parse(text) as { keys: [{ key: string }] }).keys;
    await t.importKeys({ key_id: 'billing', org_id: 'acme' });
    let updates = 0;
    for (const spoil of [
      () => writeFile(file, text.slice(0, 100)),
      () => writeFile(file, text),
      () => chmod(file, 0o644),
    ]) {
      await spoil();
      updates += 1;
      expect((await t.update('billing', { alias: `${updates}`, hmac_string: `secret ${updates}` })).status).toBe(200);
      const read = await t.send('/svc/org/keys/billing', { headers: { 'x-svc-authorization': t.service } });
      expect(read).toMatchObject({ status: 200, body: { data: { alias: `${updates}` } } });
    }
    expect(await ready()).toBe('503 not ready\n');
    await chmod(file, 0o600);
    passSecond();
    expect(await ready()).toBe('200 ready\n');
    expect(t.logLines('key ring').map(({ level }) => level)).toContain('warn');
    expect(t.logs()).not.toContain(key.slice(0, 8));
  });

  it('and 200 again once the fault is repaired, without a restart', async () => {
    onDatabase("CREATE TRIGGER full BEFORE INSERT ON settings BEGIN SELECT RAISE(FAIL, 'disk is full'); END");
    expect(await ready()).toBe('503 not ready\n');
    onDatabase('DROP TRIGGER full');
    passSecond();
    expect(await ready()).toBe('200 ready\n');
    expect(t.logs()).toContain('ready again');
  });

  it('but returns 200 while another process writes for a moment', async () => {
    const other = new Database(join(folder, 'keyfront.db'));
    other.exec('BEGIN IMMEDIATE');
    expect(await ready()).toBe('200 ready\n');
    other.exec('ROLLBACK');
    other.close();
  });
});

describe('/ready', () => {
  it('O-02 checks storage once a second at most, for any number of requests', async () => {
    const writes = () => {
      const database = new Database(join(folder, 'keyfront.db'));
      const found = database.prepare("SELECT value FROM settings WHERE name = 'probe'").get();
      database.close();
      return JSON.stringify(found);
    };
    expect(await ready()).toBe('200 ready\n');
    const first = writes();
    t.clock.now = new Date(t.clock.now.getTime() + 60_000);
    for (let times = 0; times < 50; times += 1) await ready();
    expect(writes()).toBe(first);
    passSecond();
    await ready();
    expect(writes()).not.toBe(first);
  });

  it.each([
    [{ blocks: 1_000, bavail: 51, bsize: 4096 }, true],
    [{ blocks: 1_000, bavail: 49, bsize: 4096 }, false],
    [{ blocks: 1_000, bavail: 0, bsize: 4096 }, false],
    [{ blocks: 250_000_000, bavail: 70_000, bsize: 4096 }, true],
    [{ blocks: 250_000_000, bavail: 60_000, bsize: 4096 }, false],
  ])('accepts a disk with %o as having enough space: %s', (disk, verdict) => {
    expect(hasFreeSpace(disk)).toBe(verdict);
  });
});

describe('the log', () => {
  it('has requests of health checks at the level debug, and others at info', async () => {
    for (const path of ['/health', '/ready', '/openapi.json']) await t.send(path);
    const levels = t.logLines('"route"').map(({ level, route }) => `${String(level)} ${String(route)}`);
    expect(levels).toStrictEqual(['debug /health', 'debug /ready', 'info /openapi.json']);
  });
});
