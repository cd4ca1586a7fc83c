import { copyFile, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { startOwnApp } from '../../support/app.js';
import { makeOwnCommandLine, type CommandLine } from '../../support/cli.js';

let c: CommandLine;
beforeEach(async () => {
  c = await makeOwnCommandLine();
  const keys = Array.from({ length: 30 }, (_, index) => ({
    key_id: `k${index}`,
    org_id: 'acme',
    ...(index % 2 === 0 && { hmac_string: `hmac-${index}` }),
    ...(index % 3 === 0 && { jwt_data: { secret: `jwt-${index}` } }),
  }));
  await c.importKeys(keys);
});

const all = async () => (await c.keyfront(['keys', 'export', '--with-secrets'])).out;
const ring = () => join(c.folder, 'key-ring.json');
const ids = async () =>
  (JSON.parse(await readFile(ring(), 'utf8')) as { keys: { id: string }[] }).keys.map(({ id }) => id);

describe('secrets rotate', () => {
  it('S-07 encrypts everything with a new key, and everything can be decrypted', async () => {
    const before = await all();
    expect(before).toContain('hmac-0');
    const { code, out, stderr } = await c.keyfront(['secrets', 'rotate']);
    expect([code, out]).toStrictEqual([0, '']);
    expect(stderr).toBe(
      'Everything is encrypted with the key k2. Older keys stay in the key ring until `keyfront secrets prune`.\n',
    );
    expect(await ids()).toStrictEqual(['k1', 'k2']);
    expect(await all()).toBe(before);
  });

  it('creates no version and no history entry', async () => {
    await c.keyfront(['secrets', 'rotate']);
    const t = await startOwnApp({ KEYFRONT_DATA: c.folder });
    const hash = t.app.services.ports.hashKeyID('k0');
    expect((await t.app.services.store.find(hash))?.version).toBe(1);
    expect(await t.app.services.store.historyOf(hash)).toHaveLength(1);
  });

  it('is detected by a running service', async () => {
    const t = await startOwnApp({ KEYFRONT_DATA: c.folder });
    await c.keyfront(['secrets', 'rotate']);
    expect((await t.update('k0', { hmac_string: 'after' })).status).toBe(200);
    expect((await c.keyfront(['secrets', 'prune'])).code).toBe(0);
    expect(await all()).toContain('"hmac_string":"after"');
  });
});

describe('secrets prune', () => {
  it('rejects and removes nothing while something is encrypted with an older key', async () => {
    const database = join(c.folder, 'keyfront.db');
    await copyFile(database, `${database}.before`);
    await c.keyfront(['secrets', 'rotate']);
    // As after a rotation that was interrupted: the ring has the new key, and nothing is encrypted with it.
    await rm(database);
    await copyFile(`${database}.before`, database);
    const { code, stderr } = await c.keyfront(['secrets', 'prune']);
    expect([code, stderr]).toStrictEqual([1, 'An older key is still in use. Run `keyfront secrets rotate` first.\n']);
    expect(await ids()).toStrictEqual(['k1', 'k2']);
    expect((await c.keyfront(['secrets', 'rotate'])).code).toBe(0);
    expect((await c.keyfront(['secrets', 'prune'])).code).toBe(0);
    expect(await all()).toContain('hmac-0');
  });

  it('leaves a valid folder after a rotation that was interrupted before its last step', async () => {
    const before = await all();
    const database = new Database(join(c.folder, 'keyfront.db'));
    const checkValue = database.prepare("SELECT value FROM settings WHERE name = 'key_ring'").pluck();
    const old = checkValue.get();
    await c.keyfront(['secrets', 'rotate']);
    expect(checkValue.get()).not.toBe(old);
    database.prepare("UPDATE settings SET value = ? WHERE name = 'key_ring'").run(old);
    database.close();
    expect((await c.keyfront(['secrets', 'prune'])).code).toBe(0);
    expect(await all()).toBe(before);
  });
});
