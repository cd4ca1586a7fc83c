import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextIteration } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createLogger } from '../../src/lib/log.js';
import { startCheckpoints } from '../../src/storage/scheduled-jobs.js';
import { createCheckpoints } from '../../src/storage/sql/keys/checkpoints.js';
import { startOwnApp, type TestApp } from '../support/app.js';
import { makeOwnCommandLine, type CommandLine } from '../support/cli.js';
import { describeEngines, makeOwnPlace, postgres, type EnginePlace, putRowsBack } from '../support/engines.js';
import { aChange, aKey, anUpdate, hashOf, rowIDOf } from '../support/factories.js';
import { signer } from '../support/signer.js';
import { allHashes } from '../support/state.js';
import { statementsDuring } from '../support/statements.js';
import { openOwnSession, sqliteKeyStore } from '../support/storage.js';
import { timersDueWithin, until } from '../support/until.js';

const day = 86_400_000;

describeEngines('the head of the keys in the database', (engine) => {
  let t: TestApp;
  let c: CommandLine;
  let place: EnginePlace;
  beforeEach(async () => {
    place = await makeOwnPlace(engine);
    t = await startOwnApp(place.env);
    c = await makeOwnCommandLine();
  });

  const run = (...statements: readonly string[]) => place.run(...statements);
  const save = (table: string, as = `saved_${table}`) => run(`CREATE TABLE ${as} AS SELECT * FROM ${table}`);
  const putBack = (table: string, where: string, from = `saved_${table}`) => putRowsBack(place, table, from, where);
  const hash = (keyID: string) => t.app.services.ports.hashKeyID(keyID);
  const ofKey = (keyID: string, column = 'id') => `${column} = ${rowIDOf(hash(keyID))}`;
  const vanish = (keyID: string) =>
    run(
      `DELETE FROM keys WHERE ${ofKey(keyID)}`,
      ...['history', 'key_terms'].map((table) => `DELETE FROM ${table} WHERE ${ofKey(keyID, 'key')}`),
    );
  const mutate = async (field: string) => {
    const { body } = await t.graphql(`mutation { ${field} }`);
    expect(body).not.toHaveProperty('errors');
  };
  const consume = (keyID: string, amount: number) =>
    mutate(`consumeOrgQuota(keyID: "${keyID}", amount: ${amount}) { allowed }`);
  const remove = (keyID: string) => mutate(`deleteOrgKey(keyID: "${keyID}") { version }`);
  const purgedBefore = () => new Date(t.clock.now.getTime() - 30 * day);
  /** One step of the job of the service, which covers all keys of these tests. */
  const advance = async () => {
    const { isEnd, rollbacks } = await t.app.services.checkpoints.advance({ purgedBefore: purgedBefore() });
    expect(isEnd).toBe(true);
    return rollbacks.map(({ kind, head }) => [kind, head.keyHash]);
  };
  const publish = () => t.app.services.checkpoints.publish(t.clock.now, 0);
  const problems = async (...options: string[]) => {
    const { code, stderr } = await c.keyfront(['check', ...options], place.env);
    const found = stderr.split('\n').filter((line) => /^The /.test(line));
    expect(code).toBe(found.length > 0 ? 1 : 0);
    return found.toSorted();
  };

  it('names older rows that were put back and keys that vanished, also after further checkpoints', async () => {
    await t.importKeys(
      { key_id: 'changed', org_id: 'acme', alias: 'one' },
      { key_id: 'used', org_id: 'acme', quota_max: 100 },
      { key_id: 'renewed', org_id: 'acme', quota_max: 100, quota_renewal_rate: 3600 },
      { key_id: 'gone', org_id: 'acme', alias: 'two' },
      { key_id: 'same', org_id: 'acme', alias: 'three' },
    );
    await consume('used', 10);
    await consume('renewed', 20);
    await save('keys');
    await consume('used', 80);
    t.clock.now = new Date(t.clock.now.getTime() + 3_700_000);
    await consume('renewed', 70);
    await t.update('changed', { alias: 'newest' });
    expect(await advance()).toStrictEqual([]);
    expect(await problems()).toStrictEqual([]);

    for (const key of ['used', 'renewed', 'changed']) await putBack('keys', ofKey(key));
    await run(`DELETE FROM history WHERE ${ofKey('changed', 'key')} AND version = 2`);
    await vanish('gone');
    const expected = [
      `The key ${hash('changed')} has version 1; it had version 2 in the head.`,
      `The key ${hash('gone')} is missing; it had version 1 in the head.`,
      `The used quota of ${hash('used')} went back from 90 to 10 without a reset.`,
      `The used quota of ${hash('renewed')} went back from 70 to 20 without a reset.`,
    ].toSorted();
    expect(await problems()).toStrictEqual(expected);
    const found = [
      ['older', hash('changed')],
      ['missing', hash('gone')],
      ['quota', hash('used')],
      ['quota', hash('renewed')],
    ].toSorted();
    expect((await advance()).toSorted()).toStrictEqual(found);
    expect((await advance()).toSorted()).toStrictEqual(found);
    expect(await problems()).toStrictEqual(expected);
    expect(await c.keyfront(['head', '--accept'], place.env)).toMatchObject({ code: 0 });
    expect(await problems()).toStrictEqual([]);
    expect(await advance()).toStrictEqual([]);
  });

  it('names a key whose newest history entry was deleted, while its row is as it was', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'one' }, { key_id: 'k2', org_id: 'acme' });
    await t.update('k1', { alias: 'two' });
    await advance();
    await run(`DELETE FROM history WHERE ${ofKey('k1', 'key')} AND version = 2`);
    expect(await advance()).toStrictEqual([['history', hash('k1')]]);
    expect(await problems()).toContain(`The history of ${hash('k1')} up to version 2 differs from the head.`);
  });

  it('names it after the next checkpoint if the entry was deleted before the first one', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'one' });
    await advance();
    await t.update('k1', { alias: 'two' });
    await run(`DELETE FROM history WHERE ${ofKey('k1', 'key')} AND version = 2`);
    expect(await advance()).toStrictEqual([]);
    expect(await advance()).toStrictEqual([['history', hash('k1')]]);
  });

  it('keeps the state of a key whose row is damaged, and names an older row that is put in its place', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'one' });
    await save('keys');
    await t.update('k1', { alias: 'two' });
    await advance();
    await run(`UPDATE keys SET mac = ${place.bytes('00')} WHERE ${ofKey('k1')}`);
    expect(await advance()).toStrictEqual([]);
    await putBack('keys', ofKey('k1'));
    expect(await advance()).toStrictEqual([['older', hash('k1')]]);
  });

  it('finds an older head with older rows against the log, and in the process that has read a newer one', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 100 });
    await advance();
    const early = await publish();
    await save('heads');
    await save('keys');
    await consume('k1', 90);
    await advance();
    const late = await publish();
    await save('heads', 'saved_late');
    const file = await c.file('service.log', `${JSON.stringify(early)}\n{"msg":"other"}\n${JSON.stringify(late)}\n`);
    expect(await problems('--against', file)).toStrictEqual([]);

    await putBack('keys', ofKey('k1'));
    await putBack('heads', 'true');
    const lost = `The head ${late?.sequence} of the log is missing: an older database was put back.`;
    expect(await problems()).toStrictEqual([]);
    expect(await problems('--against', file)).toStrictEqual([lost]);
    await expect(advance()).rejects.toThrow('The head of the keys failed its integrity check');

    // A new process goes on from the older head, and publishes another one.
    await t.close();
    t = await startOwnApp(place.env);
    t.clock.now = new Date(t.clock.now.getTime() + 60_000);
    await consume('k1', 5);
    expect(await advance()).toStrictEqual([]);
    expect((await publish())?.sequence).toBe(late?.sequence);
    expect(await problems('--against', file)).toStrictEqual([lost]);

    // The published head of before in place of the one of now.
    await t.update('k1', { alias: 'two' });
    await advance();
    await publish();
    await putBack('heads', `sequence = ${late?.sequence} AND name LIKE 'published.%'`, 'saved_late');
    expect(await problems('--against', file)).toStrictEqual(['The chain of the published heads is broken.']);
  });

  it.each([
    ['was put back alone', "name = 'keys'", 'The chain of the published heads is broken.'],
    ['lost its published heads', "name LIKE 'published.%'", 'The chain of the published heads is broken.'],
    ['has an older page', "name LIKE 'keys._%'", 'The head of the keys fails the integrity check.'],
    ['is newer than the head of the credentials', "name = 'credentials'", 'The head of the credentials is older'],
  ])('is rejected if it %s', async (_, where, message) => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'one' });
    await advance();
    await publish();
    await save('heads');
    await save('credentials');
    await t.update('k1', { alias: 'two' });
    await t.issue('service');
    await advance();
    await publish();
    expect(await problems()).toStrictEqual([]);
    await putBack('heads', where);
    // With the credentials of that time, the head of the credentials alone finds nothing.
    if (where.includes('credentials')) {
      await run('DELETE FROM credentials', 'INSERT INTO credentials SELECT * FROM saved_credentials');
    }
    expect(await problems()).toContainEqual(expect.stringContaining(message));
  });

  it('reports nothing after changes, renewals, resets, deletion, restoring, purges, imports and rotations', async () => {
    await t.importKeys(
      { key_id: 'k1', org_id: 'acme', quota_max: 100, quota_renewal_rate: 60 },
      { key_id: 'reset', org_id: 'acme', quota_max: 100 },
      { key_id: 'restored', org_id: 'acme' },
      { key_id: 'purged', org_id: 'acme' },
      { key_id: 'again', org_id: 'acme' },
      { key_id: 'damaged', org_id: 'acme' },
    );
    await consume('k1', 50);
    await consume('reset', 50);
    await advance();
    const clean = async () => {
      expect(await problems()).toStrictEqual([]);
      expect(await advance()).toStrictEqual([]);
      expect(await problems()).toStrictEqual([]);
      await publish();
    };
    t.clock.now = new Date(t.clock.now.getTime() + 150_000);
    await consume('k1', 1);
    await mutate('resetOrgQuotas(filter: {}, dryRun: false) { dryRun }');
    await t.update('k1', { quota_max: 90, quota_renewal_rate: 50 });
    await remove('restored');
    await clean();
    await mutate('restoreOrgKey(keyID: "restored") { version }');
    expect(await c.keyfront(['secrets', 'rotate'], place.env)).toMatchObject({ code: 0 });
    await clean();
    expect(await c.keyfront(['secrets', 'prune', '--yes'], place.env)).toMatchObject({ code: 0 });
    await clean();
    // Deleted and purged while no checkpoint was written.
    await remove('purged');
    await remove('again');
    t.clock.now = new Date(t.clock.now.getTime() + 31 * day);
    expect(await t.app.services.store.purge(new Date())).toBe(2);
    // As an export has it: the same date, and another key.
    const date_created = '2026-01-31T12:00:00.000Z';
    await t.importKeys({ key_id: 'again', org_id: 'acme', date_created }, { key_id: 'new', org_id: 'acme' });
    await clean();
    await run(`UPDATE keys SET mac = ${place.bytes('00')} WHERE ${ofKey('damaged')}`);
    expect(await problems()).toStrictEqual([`The key ${hash('damaged')} fails the integrity check.`]);
    expect(await advance()).toStrictEqual([]);
    expect(await t.app.services.store.discard(hash('damaged'))).toBe('discarded');
    await t.importKeys({ key_id: 'damaged', org_id: 'acme', date_created });
    await clean();
  });

  it('is not accepted from a process that has read older rows than another one has written', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'one' });
    await advance();
    const other = await startOwnApp(place.env);
    await t.update('k1', { alias: 'two' });
    const results = await Promise.all(
      [t, other].map(({ app }) => app.services.checkpoints.advance({ purgedBefore: purgedBefore() })),
    );
    expect(results.flatMap(({ rollbacks }) => rollbacks)).toStrictEqual([]);
    expect(await problems()).toStrictEqual([]);
    expect(await advance()).toStrictEqual([]);
  });

  it('is rejected if it vanished from a database in which this process has read it', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    await advance();
    await run(`DELETE FROM heads WHERE name = 'keys'`);
    await expect(advance()).rejects.toThrow('The head of the keys failed its integrity check');
    await expect(publish()).rejects.toThrow('The head of the keys failed its integrity check');
  });

  it('names a key that was removed and added again by another program', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'one' });
    await advance();
    await vanish('k1');
    t.clock.now = new Date(t.clock.now.getTime() + 1_000);
    await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'two' });
    expect(await advance()).toStrictEqual([['replaced', hash('k1')]]);
    expect(await problems()).toHaveLength(1);
  });

  it('is published again only after a change and the interval', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'one' });
    expect(await publish()).toBeUndefined();
    await advance();
    expect(await publish()).toMatchObject({ sequence: 2 });
    expect(await publish()).toBeUndefined();
    await t.update('k1', { alias: 'two' });
    await advance();
    expect(await t.app.services.checkpoints.publish(t.clock.now, 1_000)).toBeUndefined();
    t.clock.now = new Date(t.clock.now.getTime() + 1_000);
    expect(await t.app.services.checkpoints.publish(t.clock.now, 1_000)).toMatchObject({ sequence: 4 });
    expect(await problems()).toStrictEqual([]);
  });
});

describe('the head of the keys of a data folder', () => {
  let t: TestApp;
  let c: CommandLine;
  beforeEach(async () => {
    c = await makeOwnCommandLine();
    t = await startOwnApp({ KEYFRONT_DATA: c.folder });
  });

  const advance = () => t.app.services.checkpoints.advance({ purgedBefore: new Date(0) });
  const write = (sql: string) => {
    const file = new Database(join(c.folder, 'keyfront.db'));
    file.exec(sql);
    file.close();
  };
  const intact = { code: 0, stderr: expect.stringContaining('no problems found') };

  it('covers some thousand keys in several steps, and begins again after the last', async () => {
    await t.importKeys(...Array.from({ length: 4_500 }, (_, index) => ({ key_id: `k${index}`, org_id: 'acme' })));
    const ends = [];
    for (let step = 0; step < 6; step += 1) ends.push((await advance()).isEnd);
    expect(ends).toStrictEqual([false, false, true, false, false, true]);
    const hashes = await allHashes(t);
    // A step keeps the marks of purged keys that a later step covers.
    const purged = hashes.at(-2) ?? '';
    await t.app.services.store.update(purged, (found) => anUpdate(found, { deleted: new Date(0) }));
    expect(await t.app.services.store.purge(new Date(1))).toBe(1);
    for (let step = 0; step < 3; step += 1) expect((await advance()).rollbacks).toStrictEqual([]);
    const chosen = [hashes[0], hashes[2_250], hashes.at(-1)];
    const list = chosen.map((keyHash = '') => rowIDOf(keyHash)).join();
    write(`DELETE FROM keys WHERE id IN (${list}); DELETE FROM history WHERE key IN (${list})`);
    const { stderr } = await c.keyfront(['check']);
    for (const keyHash of chosen)
      expect(stderr).toContain(`The key ${keyHash} is missing; it had version 1 in the head.`);
    expect(stderr).toContain('problems found: 3.');
    const found = [];
    for (let step = 0; step < 3; step += 1) found.push(...(await advance()).rollbacks);
    expect(found.map(({ head }) => head.keyHash)).toStrictEqual(chosen);
  });

  it('continues after a restart with the page that was verified longest ago, and accepts all pages nonetheless', async () => {
    await t.importKeys(...Array.from({ length: 4_500 }, (_, index) => ({ key_id: `k${index}`, org_id: 'acme' })));
    const restarted = async () => {
      await t.close();
      t = await startOwnApp({ KEYFRONT_DATA: c.folder });
      return advance();
    };
    const ends = [];
    for (let start = 0; start < 4; start += 1) ends.push((await restarted()).isEnd);
    expect(ends).toStrictEqual([false, false, true, false]);
    const hashes = await allHashes(t);
    const remove = (keyHash = '') =>
      write(`DELETE FROM keys WHERE id = ${rowIDOf(keyHash)}; DELETE FROM history WHERE key = ${rowIDOf(keyHash)}`);
    remove(hashes.at(-1));
    expect((await restarted()).rollbacks).toStrictEqual([]);
    expect(await restarted()).toMatchObject({ isEnd: true, rollbacks: [{ kind: 'missing' }] });
    // The cycle is behind the first key, which another process accepts all the same.
    expect(await restarted()).toStrictEqual({ isEnd: false, rollbacks: [] });
    remove(hashes[0]);
    expect(await c.keyfront(['head', '--accept'])).toMatchObject({ code: 0 });
    expect(await restarted()).toStrictEqual({ isEnd: false, rollbacks: [] });
    expect(await restarted()).toStrictEqual({ isEnd: true, rollbacks: [] });
    expect(await restarted()).toStrictEqual({ isEnd: false, rollbacks: [] });
  });

  it('keeps the mark of a purged key until its states are written without the key', async () => {
    const marks = () => {
      const file = new Database(join(c.folder, 'keyfront.db'), { readonly: true });
      const rows = file.prepare(`SELECT name FROM heads WHERE name LIKE 'purged.%'`).pluck().all();
      file.close();
      return rows;
    };
    await t.importKeys({ key_id: 'k1', org_id: 'acme' }, { key_id: 'k2', org_id: 'acme' });
    await advance();
    await t.graphql('mutation { deleteOrgKey(keyID: "k1") { version } }');
    expect(await t.app.services.store.purge(new Date(t.clock.now.getTime() + 1))).toBe(1);
    expect(marks()).toHaveLength(1);
    expect(await advance()).toStrictEqual({ isEnd: true, rollbacks: [] });
    expect(marks()).toStrictEqual([]);
  });

  it('is the same in a backup that was restored', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'one' });
    await advance();
    const logged = await t.app.services.checkpoints.publish(t.clock.now, 0);
    const log = await c.file('service.log', JSON.stringify(logged));
    expect(await c.keyfront(['backup', join(c.folder, 'backup')])).toMatchObject({ code: 0 });
    await t.update('k1', { alias: 'two' });
    await advance();
    const later = await c.file(
      'later.log',
      JSON.stringify(await t.app.services.checkpoints.publish(new Date(t.clock.now.getTime() + 1), 0)),
    );
    const restored = { KEYFRONT_DATA: join(c.folder, 'restored') };
    await mkdir(restored.KEYFRONT_DATA, { mode: 0o700 });
    await copyFile(join(c.folder, 'key-ring.json'), join(restored.KEYFRONT_DATA, 'key-ring.json'));
    expect(await c.keyfront(['restore', join(c.folder, 'backup')], restored)).toMatchObject({ code: 0 });
    expect(await c.keyfront(['check', '--against', log], restored)).toMatchObject(intact);
    expect(await c.keyfront(['check', '--against', later], restored)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('of the log is missing: an older database was put back.'),
    });
  });

  it.skipIf(postgres.isMissing)(`is copied by migrate-store, to ${postgres.name}`, async () => {
    const place = await makeOwnPlace(postgres);
    const env = { KEYFRONT_DATABASE_URL: place.env['KEYFRONT_DATABASE_URL'] ?? '' };
    await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'one' });
    await advance();
    const log = await c.file('service.log', JSON.stringify(await t.app.services.checkpoints.publish(t.clock.now, 0)));
    await t.close();
    expect(await c.keyfront(['migrate-store'], env)).toMatchObject({ code: 0 });
    expect(await c.keyfront(['check', '--against', log], env)).toMatchObject(intact);
    t = await startOwnApp({ KEYFRONT_DATA: c.folder, ...env });
    await t.update('k1', { alias: 'two' });
    expect(await advance()).toStrictEqual({ isEnd: true, rollbacks: [] });
    expect(await c.keyfront(['check', '--against', log], env)).toMatchObject(intact);
  });

  it('is brought up to date by reads of at most 256 KiB, some 4 MiB at a time', async () => {
    const large = { one: 'x'.repeat(50_000), two: 'x'.repeat(50_000) };
    await t.importKeys(
      ...Array.from({ length: 60 }, (_, n) => ({ key_id: `k${n}`, org_id: 'acme', meta_data: large })),
    );
    const advance = () => t.app.services.checkpoints.advance({ purgedBefore: new Date(0) });
    const reads = await statementsDuring(
      async () => expect(await advance()).toStrictEqual({ isEnd: false, rollbacks: [] }),
      /AS has_entry/,
    );
    // Two keys are at most 256 KiB, and 42 are more than 4 MiB.
    expect(reads.length).toBeGreaterThanOrEqual(21);
    expect(reads.length).toBeLessThan(30);
    expect(await advance()).toStrictEqual({ isEnd: true, rollbacks: [] });
  });

  it('is written to the log ten minutes after the last time, also by a service that was started since', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'one' });
    await advance();
    await t.app.services.checkpoints.publish(t.clock.now, 0);
    await t.update('k1', { alias: 'two' });
    const { checkpoints } = t.app.services;
    const publish = vi.fn((at: Date, minAgeMs: number) => checkpoints.publish(at, minAgeMs));
    const lines: string[] = [];
    const log = createLogger('info', { write: (line: string) => void lines.push(line) });
    const job = startCheckpoints({ ...t.app.services, checkpoints: { ...checkpoints, publish } }, 0, log, 1);
    t.clock.now = new Date(t.clock.now.getTime() + 599_999);
    await until(() => publish.mock.calls.length > 1);
    expect(lines).toStrictEqual([]);
    t.clock.now = new Date(t.clock.now.getTime() + 1);
    await until(() => lines.length > 0);
    await job.stop();
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([{ msg: 'head published' }]);
  });

  it('is published again after a clock that was two days ahead is set back, and a log line states it', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'one' });
    const { checkpoints } = t.app.services;
    await checkpoints.advance({ purgedBefore: new Date(0) });
    const ahead = new Date(t.clock.now.getTime() + 2 * 86_400_000);
    expect(await checkpoints.publish(ahead, 600_000)).toMatchObject({ at: ahead.getTime(), isClockSetBack: false });
    await t.update('k1', { alias: 'two' });
    const lines: string[] = [];
    const log = createLogger('info', { write: (line: string) => void lines.push(line) });
    const job = startCheckpoints(t.app.services, 0, log, 1);
    await until(() => lines.some((line) => line.includes('head published')));
    await job.stop();
    expect(lines.map((line): unknown => JSON.parse(line))).toStrictEqual([
      expect.objectContaining({ level: 'warn', msg: 'the clock was ahead when the last head was published' }),
      expect.objectContaining({ level: 'info', msg: 'head published' }),
    ]);
    // Not the next one: the last head has the right time now.
    await t.update('k1', { alias: 'three' });
    await checkpoints.advance({ purgedBefore: new Date(0) });
    expect(await checkpoints.publish(t.clock.now, 600_000)).toBeUndefined();
  });

  it('is not brought up to date again while that takes longer than the interval, nor after the service has stopped', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const advance = vi.fn(async () => {
      await released;
      return { isEnd: true, rollbacks: [] };
    });
    const services = { ...t.app.services, checkpoints: { ...t.app.services.checkpoints, advance } };
    const job = startCheckpoints(services, 0, createLogger('silent'), 1);
    await until(() => advance.mock.calls.length === 1);
    // Many intervals.
    await timersDueWithin(50);
    const stopped = job.stop();
    release();
    await stopped;
    expect(advance).toHaveBeenCalledTimes(1);
  });
});

describe('a step of the head of the keys', () => {
  it('writes nothing if another process has written a newer head since this one read the keys', async () => {
    const { database, gate, session } = openOwnSession();
    const store = sqliteKeyStore(database, signer, { gate });
    const [other, purgedBefore] = [createCheckpoints(session, signer), new Date(0)];
    const changeMeanwhile = vi.fn(async () => {
      await store.update(hashOf('k1'), (found) => anUpdate(found));
      await other.advance({ purgedBefore });
    });
    let snapshots = 0;
    const late = createCheckpoints(
      {
        ...session,
        // The first snapshot is of the head alone. The second one is of the head and its pages, after the keys were read.
        snapshot: async (work) => {
          snapshots += 1;
          if (snapshots === 2) await changeMeanwhile();
          return session.snapshot(work);
        },
      },
      signer,
    );
    await store.add([aChange(aKey('k1'))]);
    await other.advance({ purgedBefore });
    expect(await late.advance({ purgedBefore })).toStrictEqual({ isEnd: false, rollbacks: [] });
    expect(changeMeanwhile).toHaveBeenCalledTimes(1);
    expect(await late.advance({ purgedBefore })).toStrictEqual({ isEnd: true, rollbacks: [] });
  });
});

it('the head of the keys is brought up to date every ten seconds and written to the log every ten minutes', async () => {
  // Without a service: work of its own that began with these timers would wait for them after the test.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], fakeNodeBuiltins: true });
  onTestFinished(() => void vi.useRealTimers());
  const head = { keyHash: 'abc', identity: '', version: 1, link: '', quotaUsed: 0n };
  let now = new Date(0);
  let published: number | undefined;
  const checkpoints = {
    advance: vi.fn(() => Promise.resolve({ isEnd: true, rollbacks: [{ kind: 'missing' as const, head }] })),
    publish: (at: Date, minAgeMs: number) => {
      const isDue = published === undefined || at.getTime() - published >= minAgeMs;
      if (isDue) published = at.getTime();
      return Promise.resolve(isDue ? { sequence: 7, at: at.getTime(), digest: 'digest' } : undefined);
    },
  };
  const lines: string[] = [];
  const log = createLogger('info', { write: (line: string) => void lines.push(line) });
  const job = startCheckpoints({ checkpoints, now: () => now }, 0, log);
  for (let seconds = 10; seconds <= 620; seconds += 10) {
    now = new Date(seconds * 1_000);
    vi.advanceTimersByTime(10_000);
    await nextIteration();
  }
  await job.stop();
  expect(checkpoints.advance).toHaveBeenCalledTimes(62);
  expect(lines.map((line): unknown => JSON.parse(line))).toStrictEqual([
    expect.objectContaining({ level: 'error', keyHash: 'abc', kind: 'missing' }),
    expect.objectContaining({ level: 'info', sequence: 7, digest: 'digest', msg: 'head published' }),
    expect.objectContaining({ level: 'info', sequence: 7, digest: 'digest', msg: 'head published' }),
  ]);
});
