import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { copiedTables, copyStore, migrationSourceSetting } from '../../../src/storage/sql/copy-store.js';
import { openForMigration } from '../../../src/storage/postgres/engine.js';
import { createRowTarget } from '../../../src/storage/postgres/copy-target.js';
import type { PgPool, Session } from '../../../src/storage/postgres/pool.js';
import { postgresTypes } from '../../../src/storage/postgres/session.js';
import { openLockedRows } from '../../../src/storage/sqlite/copy-source.js';
import { startApp } from '../../support/app.js';
import { makeCommandLine, type CommandLine } from '../../support/cli.js';
import { postgres, type EnginePlace } from '../../support/engines.js';
import { startReceiver, verificationErrorOf } from '../../support/receiver.js';
import { allOf } from '../../support/collect.js';

const count = 450;
const password = 'Xq7-password';

describe.skipIf(postgres.isMissing)(`keyfront migrate-store, to ${postgres.name}`, () => {
  let place: EnginePlace;
  let c: CommandLine;
  let env: { KEYFRONT_DATABASE_URL: string };
  let service: string;
  beforeEach(async () => {
    place = await postgres.make();
    c = await makeCommandLine();
    env = { KEYFRONT_DATABASE_URL: place.env['KEYFRONT_DATABASE_URL'] ?? '' };
    const t = await startApp({ KEYFRONT_DATA: c.folder });
    service = t.service;
    await t.importKeys(
      ...Array.from({ length: count }, (_, index) => ({
        key_id: `key-${index}`,
        org_id: index % 2 === 0 ? 'acme' : 'globex',
        alias: `Nr ${index}`,
        tags: ['all', `tag-${index % 7}`],
        quota_max: 9223372036854775807n,
        hmac_string: `secret ${index}`,
      })),
    );
    for (const index of [1, 2, 3]) await t.update(`key-${index}`, { alias: 'changed' }, '', { 'if-match': '"1"' });
    await t.send('/svc/org/keys/key-4', { method: 'DELETE', headers: { 'x-svc-authorization': service } });
    await t.close();
  });
  afterEach(async () => {
    await c.remove();
    await place.remove();
  });

  /** Opens the file and the database for a copy. */
  const openCopy = async () => {
    const source = openLockedRows(`${c.folder}/keyfront.db`);
    const opened = await openForMigration(env.KEYFRONT_DATABASE_URL);
    await opened.settings.set(migrationSourceSetting, source.id);
    const close = async () => {
      await opened.close();
      source.close();
    };
    return { source, opened, target: createRowTarget(opened.connections), close };
  };
  const nothing = () => undefined;

  const everything = async (settings: Record<string, string> = {}) => ({
    keys: (await c.keyfront(['keys', 'export', '--with-secrets'], settings)).out,
    credentials: (await c.keyfront(['credentials', 'list'], settings)).out,
    webhooks: (await c.keyfront(['webhooks', 'list'], settings)).out,
  });

  it('copies keys, secrets, histories and credentials, and leaves the file unchanged', async () => {
    const receiver = await startReceiver();
    const { stderr: added, out: secret } = await c.keyfront(['webhooks', 'add', '--to', receiver.url]);
    const before = await everything();
    expect(before.keys.split('\n')).toHaveLength(count);
    const { code, stderr } = await c.keyfront(['migrate-store'], env);
    expect([code, stderr]).toStrictEqual([
      0,
      expect.stringContaining(`Copied ${count} keys, ${count + 4} history entries and 2 credentials to `),
    ]);
    expect(await everything(env)).toStrictEqual(before);
    expect(await everything()).toStrictEqual(before);
    expect(await c.keyfront(['check'], env)).toMatchObject({
      code: 0,
      stderr: `${count} keys verified, no problems found.\n`,
    });
    const t = await startApp({ KEYFRONT_DATA: c.folder, ...env });
    const read = await t.send('/svc/org/keys/key-2', { headers: { 'x-svc-authorization': service } });
    expect(read).toMatchObject({ status: 200, body: { data: { alias: 'changed' } } });
    expect((await t.update('key-2', { alias: 'after' }, '', { 'if-match': '"2"' })).status).toBe(200);
    const restored = await t.send('/svc/org/keys/key-4/restore', {
      method: 'POST',
      headers: { 'x-svc-authorization': service },
    });
    expect(restored.status).toBe(200);
    // A webhook goes on where it was.
    await receiver.until((taken) => taken.length === 2);
    expect(before.webhooks).toContain(/hook_\w+/.exec(added)?.[0] ?? 'none');
    expect(receiver.received.map((message) => verificationErrorOf(secret.trim(), message))).toStrictEqual([
      undefined,
      undefined,
    ]);
    await t.close();
    await receiver.close();
    expect(await c.keyfront(['check'], env)).toMatchObject({ code: 0 });
  });

  it('leaves statistics of all tables, without which the first requests would scan them', async () => {
    expect(await c.keyfront(['migrate-store'], env)).toMatchObject({ code: 0 });
    const names = Object.keys(copiedTables).map((name) => `'${name}'`);
    expect(
      await place.database?.run(
        `SELECT relname FROM pg_class
         WHERE relnamespace = current_schema()::regnamespace AND relname IN (${names.join()}) AND reltuples < 0`,
      ),
    ).toStrictEqual([]);
  });

  it('keeps the order of all changes and their cursors', async () => {
    const t = await startApp({ KEYFRONT_DATA: c.folder });
    const readAll = async ({ app }: typeof t, after?: string) => {
      const page = await app.services.feed.read({ after, limit: 1_000 });
      return page.events.map(({ cursor, keyHash, version }) => [cursor, keyHash, version]);
    };
    const [before, among] = [
      await readAll(t),
      (await t.app.services.feed.read({ after: undefined, limit: 200 })).cursor,
    ];
    await t.close();
    expect(await c.keyfront(['migrate-store'], env)).toMatchObject({ code: 0 });
    const moved = await startApp({ KEYFRONT_DATA: c.folder, ...env });
    await moved.update('key-9', { alias: 'after' });
    expect(before).toHaveLength(count + 4);
    // It is notified when no other transaction of the server is open.
    await vi.waitFor(async () => expect(await readAll(moved)).toHaveLength(before.length + 1), { timeout: 60_000 });
    const after = await readAll(moved);
    expect(after.slice(0, -1)).toStrictEqual(before);
    expect(await readAll(moved, among)).toStrictEqual(after.slice(200));
    await moved.close();
  });

  it('copies the pending resets of live counters, in order', async () => {
    const away = { KEYFRONT_QUOTA_URL: 'redis://127.0.0.1:1' };
    const before = await startApp({ KEYFRONT_DATA: c.folder, ...away });
    for (const keyID of ['key-2', 'key-7', 'key-2']) await before.update(keyID, { alias: 'x' }, '?reset_quota=1');
    const changes = await allOf(before.app.services.store.pendingBefore(new Date(8e15)));
    expect(changes).toHaveLength(3);
    await before.close();
    expect((await c.keyfront(['migrate-store'], env)).code).toBe(0);
    const after = await startApp({ KEYFRONT_DATA: c.folder, ...env, ...away });
    const { store } = after.app.services;
    expect(await allOf(store.pendingBefore(new Date(8e15)))).toStrictEqual(changes);
    await after.update('key-2', { alias: 'y' }, '?reset_quota=1');
    expect(await allOf(store.pendingBefore(new Date(8e15)))).toHaveLength(4);
    await after.close();
  });

  it('copies failing deliveries and dead letters of webhooks', async () => {
    const file = new Database(join(c.folder, 'keyfront.db'));
    file.exec(`INSERT INTO webhook_deliveries VALUES
      ('hook_a', 'h1', '', 'pending', 2, 3, 4, 9000, 8000, 'returned 500'),
      ('hook_a', 'h1', 'evt_1', 'dead', 1, 1, 30, NULL, 7000, 'returned 500'),
      ('hook_a', 'h2', '', 'pending', 1, 1, 0, 9500, NULL, '')`);
    file.close();
    const stateOf = async (settings: Record<string, string>) => {
      const t = await startApp({ KEYFRONT_DATA: c.folder, ...settings });
      const { webhooks } = t.app.services;
      const state = {
        pending: await webhooks.nextDeliveries('hook_a', 10, 'any'),
        dead: await webhooks.deadLetters({ webhookID: 'hook_a' }, 10),
      };
      await t.close();
      return state;
    };
    const before = await stateOf({});
    expect(before).toMatchObject({ pending: [{ attempts: 4 }, { attempts: 0 }], dead: [{ eventID: 'evt_1' }] });
    expect(await c.keyfront(['migrate-store'], env)).toMatchObject({ code: 0 });
    expect(await stateOf(env)).toStrictEqual(before);
  });

  it('sends and reads back any number of receipts and dead letters in statements of a limited number of rows', async () => {
    const rows = 1_100;
    const file = new Database(join(c.folder, 'keyfront.db'));
    file.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
      INSERT INTO receipts SELECT 'receipt ' || i, 7, x'00' FROM n`);
    file.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
      INSERT INTO webhook_deliveries SELECT 'hook_a', 'h1', 'evt_' || i, 'dead', 1, 1, 30, NULL, 7000, '' FROM n`);
    file.close();
    const { source, opened, close } = await openCopy();
    const { connections, sizes } = countingRows(opened.connections);
    await copyStore(source, createRowTarget(connections), nothing, nothing);
    await close();
    for (const table of ['receipts', 'webhook_deliveries']) {
      const [found] = (await place.database?.run<{ count: bigint }>(`SELECT count(*) AS count FROM ${table}`)) ?? [];
      expect([table, Number(found?.count)]).toStrictEqual([table, rows]);
    }
    expect(Math.max(...sizes)).toBe(500);
  });

  it('copies every column of these tables, with its type', async () => {
    expect(await c.keyfront(['migrate-store'], env)).toMatchObject({ code: 0 });
    const found = await place.database?.run<{ name: string; type: string; nullable: string }>(
      `SELECT table_name || '.' || column_name AS name, data_type AS type, is_nullable AS nullable
       FROM information_schema.columns WHERE table_schema = current_schema() AND column_name <> 'tx'
         AND table_name IN (${Object.keys(copiedTables)
           .map((table) => `'${table}'`)
           .join(', ')}) ORDER BY 1`,
    );
    const sent = Object.entries(copiedTables).flatMap(([table, { columns }]) =>
      Object.entries<keyof typeof postgresTypes>(columns).map(([name, type]) => ({
        name: `${table}.${name}`,
        type: postgresTypes[type],
        nullable: type.endsWith('?') ? 'YES' : 'NO',
      })),
    );
    expect(sent.length).toBeGreaterThan(40);
    expect(sent.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toStrictEqual(
      found?.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    );
  });

  it('reports completion when it runs again, and changes nothing', async () => {
    expect((await c.keyfront(['migrate-store'], env)).code).toBe(0);
    const t = await startApp({ KEYFRONT_DATA: c.folder, ...env });
    await t.update('key-2', { alias: 'after' });
    await t.close();
    const before = await everything(env);
    for (let time = 0; time < 2; time += 1) {
      const { code, stderr } = await c.keyfront(['migrate-store'], env);
      expect([code, stderr]).toStrictEqual([0, expect.stringMatching(/^The migration is complete: .* on /)]);
    }
    expect(await everything(env)).toStrictEqual(before);
  });

  it('leaves a file that can be read, but is served and written only with permission', async () => {
    const before = await everything();
    expect((await c.keyfront(['migrate-store'], env)).code).toBe(0);
    const settings = { PORT: '0', LOG_LEVEL: 'silent' };
    for (const args of [['serve'], ['serve', '--workers', '2'], ['secrets', 'rotate'], ['reset', 'key-1']]) {
      const { code, stderr } = await c.keyfront(args, settings);
      expect([args, code]).toStrictEqual([args, args[0] === 'reset' ? 2 : 1]);
      if (!args.includes('--workers')) expect(stderr).toContain('was copied to the database ');
    }
    await expect(startApp({ KEYFRONT_DATA: c.folder })).rejects.toThrow('was copied to the database ');
    expect(await everything()).toStrictEqual(before);
    expect((await c.keyfront(['check'])).code).toBe(0);
    expect((await c.keyfront(['serve', '--allow-migrated'], settings)).code).toBe(0);
    expect((await c.keyfront(['serve'], { ...settings, ...env })).code).toBe(0);
  });

  it('ends a service on the file, which writes nothing more', async () => {
    const t = await startApp({ KEYFRONT_DATA: c.folder });
    expect((await t.update('key-7', { alias: 'before' })).status).toBe(200);
    expect((await c.keyfront(['migrate-store'], env)).code).toBe(0);
    const responses = await Promise.all(['key-1', 'key-2'].map((keyID) => t.update(keyID, { alias: 'lost' })));
    for (const response of responses) {
      expect(response).toMatchObject({
        status: 503,
        body: { message: expect.stringMatching(/nothing was written\.$/) as string },
      });
    }
    expect((await t.app.services.failed).message).toMatch(/was copied to the database .* while it was in use\.$/);
    expect((await t.send('/ready')).status).toBe(503);
    await t.close();
    expect(await everything(env)).toStrictEqual(await everything());
  });

  it('ends a service on the file that writes nothing, at its next check', async () => {
    const t = await startApp({ KEYFRONT_DATA: c.folder });
    expect((await c.keyfront(['migrate-store'], env)).code).toBe(0);
    expect(await t.app.services.checkWritable()).toBe(false);
    expect((await t.app.services.failed).message).toContain('was copied to the database ');
    await t.close();
  });

  it('lets a service write that was started with permission on a copied file', async () => {
    expect((await c.keyfront(['migrate-store'], env)).code).toBe(0);
    const t = await startApp({ KEYFRONT_DATA: c.folder }, { openOptions: { allowMigrated: true } });
    expect((await t.update('key-1', { alias: 'after' })).status).toBe(200);
    await t.close();
  });

  it('marks the file before the database is complete, and completes when it runs again', async () => {
    const { source, opened, target, close } = await openCopy();
    const fault = { ...target, finish: () => Promise.reject(new Error('killed')) };
    await expect(copyStore(source, fault, nothing, () => source.mark(opened.name))).rejects.toThrow('killed');
    await close();
    await expect(startApp({ KEYFRONT_DATA: c.folder })).rejects.toThrow('was copied to the database ');
    await expect(startApp({ KEYFRONT_DATA: c.folder, ...env })).rejects.toThrow(/holds a part of a data folder only/);
    expect((await c.keyfront(['migrate-store'], env)).code).toBe(0);
    expect(await everything(env)).toStrictEqual(await everything());
  });

  it('removes the mark if another process has written to the file', () => {
    const file = `${c.folder}/keyfront.db`;
    const source = openLockedRows(file);
    const other = new Database(file);
    // The moment between two transactions, in which another process can write.
    const exec = vi.spyOn(Database.prototype, 'exec').mockImplementation(function (this: Database.Database, sql) {
      this.prepare(sql).run();
      if (sql === 'COMMIT' && !exec.mock.calls.some(([text]) => text === 'BEGIN IMMEDIATE')) {
        other.prepare("INSERT INTO settings (name, value) VALUES ('other', 'x')").run();
      }
      return this;
    });
    expect(() => source.mark('elsewhere')).toThrow('Another process has written to');
    exec.mockRestore();
    const mark = other.prepare("SELECT value FROM settings WHERE name = 'migrated_to'").get();
    other.close();
    source.close();
    expect(mark).toBeUndefined();
  });

  it('rejects a database in which a service was started too early', async () => {
    await expect(startApp({ KEYFRONT_DATA: c.folder, ...env })).rejects.toThrow(
      'the data folder holds an installation',
    );
    expect((await c.keyfront(['migrate-store'], env)).code).toBe(0);
  });

  it('continues after an interruption with later changes, and no service starts on an incomplete copy', async () => {
    const { source, target, close } = await openCopy();
    const breakOff = (keys: number) => {
      if (keys >= 400) throw new Error('broken off');
    };
    await expect(copyStore(source, target, breakOff, nothing)).rejects.toThrow('broken off');
    await close();
    await expect(startApp({ KEYFRONT_DATA: c.folder, ...env })).rejects.toThrow(/holds a part of a data folder only/);
    const t = await startApp({ KEYFRONT_DATA: c.folder });
    await t.update('key-7', { alias: 'since' });
    await t.close();
    const { code, stderr } = await c.keyfront(['migrate-store'], env);
    expect([code, stderr]).toStrictEqual([
      0,
      expect.stringMatching(/\(found unchanged: 200 keys of an earlier attempt\)/),
    ]);
    expect(await everything(env)).toStrictEqual(await everything());
  });

  it('rejects a database with other content, or an incomplete copy of another folder', async () => {
    const other = await makeCommandLine();
    await (await startApp({ KEYFRONT_DATA: other.folder })).close();
    await (await startApp({ KEYFRONT_DATA: place.folder, ...env })).close();
    const before = await place.database?.run('SELECT * FROM credentials ORDER BY id');
    expect(await c.keyfront(['migrate-store'], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'is not empty: it contains an installation that is not a copy of this data folder',
      ),
    });
    expect(await place.database?.run('SELECT * FROM credentials ORDER BY id')).toStrictEqual(before);
    await place.database?.run(
      `INSERT INTO settings (name, value) VALUES ('${migrationSourceSetting}', 'another-source')`,
    );
    expect(await c.keyfront(['migrate-store'], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('contains an incomplete copy of another data folder'),
    });
    await other.remove();
  });

  it('detects rows that differ when they are read back', async () => {
    const { source, target, close } = await openCopy();
    for (const column of ['quota_used', 'version']) {
      const fault = {
        ...target,
        replace: async (...request: Parameters<typeof target.replace>) => {
          await target.replace(...request);
          await place.database?.run(
            `ALTER TABLE keys DISABLE TRIGGER ALL; UPDATE keys SET ${column} = ${column} + 1 WHERE id = (SELECT max(id) FROM keys)`,
          );
        },
      };
      await expect(copyStore(source, fault, nothing, nothing)).rejects.toThrow('from the source after');
    }
    await close();
  });

  it('blocks other writers of the file meanwhile', async () => {
    const t = await startApp({ KEYFRONT_DATA: c.folder });
    const source = openLockedRows(`${c.folder}/keyfront.db`);
    expect((await t.update('key-1', { alias: 'lost' })).status).toBe(503);
    source.close();
    expect((await t.update('key-1', { alias: 'kept' })).status).toBe(200);
    await t.close();
  });

  it('explains what is missing, without the password', async () => {
    expect(await c.keyfront(['migrate-store'])).toMatchObject({
      code: 2,
      stderr: 'KEYFRONT_DATABASE_URL is not set. It must name the PostgreSQL database to copy to.\n',
    });
    const away = { KEYFRONT_DATABASE_URL: `postgres://other:${password}@127.0.0.1:1/keyfront` };
    const { code, stderr } = await c.keyfront(['migrate-store'], away);
    expect([code, stderr]).toStrictEqual([
      1,
      expect.stringContaining('The database keyfront on 127.0.0.1:1 cannot be used'),
    ]);
    expect(stderr).not.toContain(password);
    const invalid = await c.keyfront(['check'], { KEYFRONT_DATABASE_URL: `mysql://other:${password}@host/keyfront` });
    expect(invalid).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('KEYFRONT_DATABASE_URL must be a URL of the form'),
    });
    expect(invalid.stderr).not.toContain(password);
  });
});

/** The connections, and the number of rows that each statement on a table without ranges sends or returns. */
function countingRows({ run, close }: PgPool): { connections: PgPool; sizes: number[] } {
  const sizes: number[] = [];
  const counting = (session: Session): Session => ({
    ...session,
    query: async <Row>(...[statement, parameters = []]: Parameters<Session['query']>) => {
      const rows = await session.query<Row>(statement, parameters);
      const text = typeof statement === 'string' ? statement : statement.text;
      const sent = parameters.map((values) => (Array.isArray(values) ? values.length : 0));
      if (/receipts|webhook_deliveries/.test(text)) sizes.push(rows.length, ...sent);
      return rows;
    },
  });
  return { connections: { run: (work) => run((session) => work(counting(session))), close }, sizes };
}
