import { execFileSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database, { SqliteError } from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { logLength } from '../../src/storage/sqlite/log-length.js';
import { createWriteGate, type WriteGate } from '../../src/storage/sqlite/write-gate.js';
import { startOwnApp, type TestApp } from '../support/app.js';
import { temporaryFolder } from '../support/folder.js';
import { sendRequest } from '../support/responses.js';
import { signer } from '../support/signer.js';
import { openOwnDatabase, sqliteKeyStore } from '../support/storage.js';
import { stateOf } from '../support/state.js';
import { until } from '../support/until.js';
import { aChange, aKey, anUpdate, hashOf } from '../support/factories.js';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder, 'keyfront.db');
});

/** Opens the file with a clock that a test moves, and notes the lines of its log. */
function openGuarded() {
  const database = openOwnDatabase(file);
  const clock = { nowMs: 0 };
  const lines: string[] = [];
  const guard = createWriteGate(database, { report: (line) => void lines.push(line), nowMs: () => clock.nowMs });
  return {
    ...{ clock, database, guard, lines, store: sqliteKeyStore(database, signer, { gate: guard }) },
    /** Limits the file to its present size. */
    fill: () => void database.pragma(`max_page_count = ${String(database.pragma('page_count', { simple: true }))}`),
    free: () => void database.pragma('max_page_count = 10000'),
  };
}

const large = { definition: { metaData: { notes: 'x'.repeat(20_000) } } };

describe('D-04 a full database', () => {
  it('rejects writes with a reason, serves reads, and accepts writes when there is space again', async () => {
    const { guard, store, fill, free } = openGuarded();
    await store.add([aChange(aKey(1))]);
    fill();
    for (const write of [
      () => store.add([aChange(aKey(2, large))]),
      () => store.update(hashOf(1), (found) => anUpdate(found, large)),
    ]) {
      await expect(write()).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        message: 'Storage is full; nothing was written.',
        retryAfterSeconds: 60,
      });
    }
    expect(guard.isWritable()).toBe(false);
    expect((await store.find(hashOf(1)))?.version).toBe(1);
    expect(await store.find(hashOf(2))).toBeUndefined();
    expect(await store.historyOf(hashOf(1))).toHaveLength(1);
    free();
    await store.update(hashOf(1), (found) => anUpdate(found, large));
  });

  it('detects free space by a write probe, without a waiting write', async () => {
    const { clock, database, guard, store, fill, free } = openGuarded();
    fill();
    await expect(store.add([aChange(aKey(2, large))])).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(guard.isWritable()).toBe(false);
    free();
    expect(guard.isWritable()).toBe(false);
    clock.nowMs += 1_000;
    expect(guard.isWritable()).toBe(true);
    expect(database.prepare('SELECT count(*) AS count FROM settings').get()).toStrictEqual({ count: 0n });
  });
});

describe('D-04 the log of a full database', () => {
  // More than the pages that a trial, which writes 64 KiB, leaves free in the file.
  const larger = { definition: { metaData: { notes: 'x'.repeat(200_000) } } };

  it('records the start and the end of each episode, without a request for /ready', async () => {
    const { clock, lines, store, fill, free } = openGuarded();
    const begin = 'Storage is full: database or disk is full. It rejects writes until a probe write succeeds.';
    const end = 'Storage accepts writes again.';
    await store.add([aChange(aKey(0))]);
    for (let episode = 1; episode <= 3; episode += 1) {
      fill();
      for (let attempt = 0; attempt < 3; attempt += 1) {
        await expect(store.add([aChange(aKey(episode, larger))])).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      }
      expect(lines.splice(0)).toEqual([begin]);
      free();
      clock.nowMs += 1_000;
      await store.add([aChange(aKey(episode, larger))]);
      expect(lines.splice(0)).toEqual([end]);
    }
  });

  it('does not alternate while small changes succeed and large ones do not', async () => {
    const { clock, guard, lines, store, fill } = openGuarded();
    await store.add([aChange(aKey(1))]);
    fill();
    for (let attempt = 2; attempt < 6; attempt += 1) {
      clock.nowMs += 1_000;
      await expect(store.add([aChange(aKey(attempt, large))])).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await guard.write(() => 'a small change');
    }
    expect(lines).toHaveLength(1);
  });
});

/** Whether this process may mount a small disk, which requires root and a container that permits it. */
const mayMount = (() => {
  try {
    execFileSync(
      'sh',
      ['-c', 'd=$(mktemp -d) && mount -t tmpfs -o size=64k,mode=700 tmpfs "$d" && umount "$d" && rmdir "$d"'],
      { stdio: 'ignore' },
    );
    return true;
  } catch {
    return false;
  }
})();

describe('D-04 a full disk', () => {
  let t: TestApp;
  beforeEach(() => {
    if (!mayMount) return;
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=700', 'tmpfs', folder]);
    onTestFinished(() => void execFileSync('umount', [folder]));
  });
  afterEach(() => void vi.useRealTimers());

  it.skipIf(!mayMount)(
    'returns 503 with Retry-After for writes and deletions, serves reads, is not ready, and recovers by itself (needs root and mount)',
    async () => {
      t = await startOwnApp({ KEYFRONT_DATA: folder });
      vi.useFakeTimers({ toFake: ['performance'] });
      await t.importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 10 });
      const before = await stateOf(t, 'k1');
      const ballast = join(folder, 'ballast');
      await expect(writeFile(ballast, Buffer.alloc(4 * 1024 * 1024))).rejects.toThrow('ENOSPC');
      const rejected = {
        status: 503,
        body: expect.objectContaining({ code: 'UNAVAILABLE', message: 'Storage is full; nothing was written.' }),
      };
      for (const response of [
        await t.update('k1', { alias: 'lost' }),
        await sendRequest(t, 'DELETE', '/svc/org/keys/k1'),
        await sendRequest(t, 'POST', '/svc/org/keys/k2', { org_id: 'acme' }),
        await sendRequest(t, 'POST', '/svc/org/keys/k1/quota', { amount: 1 }),
      ]) {
        expect(response).toMatchObject(rejected);
        expect(response.headers.get('retry-after')).toBe('60');
      }
      expect((await sendRequest(t, 'GET', '/svc/org/keys/k1')).status).toBe(200);
      expect((await sendRequest(t, 'GET', '/svc/org/keys')).status).toBe(200);
      expect((await t.preview({})).status).toBe(200);
      expect((await t.send('/ready')).status).toBe(503);
      expect((await t.send('/health')).status).toBe(200);
      expect(await stateOf(t, 'k1')).toStrictEqual(before);
      await rm(ballast);
      vi.advanceTimersByTime(1_000);
      expect((await t.send('/ready')).status).toBe(200);
      const reported = ['Storage is full: database or disk is full.', 'Storage accepts writes again.'];
      for (const line of reported) expect(t.logs().split(line), line).toHaveLength(2);
      expect((await t.update('k1', { alias: 'found' })).status).toBe(200);
    },
  );
});

describe('D-05 a disk that fails', () => {
  const failing = (code: string) => () => {
    throw new SqliteError('disk I/O error', code);
  };
  let guard: WriteGate;
  let database: Database.Database;
  beforeEach(() => {
    database = openOwnDatabase(file);
    guard = createWriteGate(database);
  });

  it.each([
    'SQLITE_IOERR_FSYNC',
    'SQLITE_IOERR_WRITE',
    'SQLITE_IOERR_DIR_FSYNC',
    'SQLITE_IOERR_SHMMAP',
    'SQLITE_IOERR',
  ])('reports a write as undecided after an error at %s, and writes nothing afterwards', async (code) => {
    await expect(guard.write(failing(code))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'Storage failed, and it is not known whether this was written: read before you try again.',
      retryAfterSeconds: undefined,
    });
    await expect(guard.failed).resolves.toMatchObject({ code });
    let tried = false;
    const later = guard.write(() => {
      tried = true;
    });
    await expect(later).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'Storage has failed; nothing was written.',
      retryAfterSeconds: 5,
    });
    expect(tried).toBe(false);
    expect(guard.isWritable()).toBe(false);
    expect(await guard.read(() => 'still read')).toBe('still read');
  });

  it.each(['SQLITE_IOERR_READ', 'SQLITE_IOERR_SHORT_READ'])(
    'rejects that one request after an error at %s, because nothing was written yet',
    async (code) => {
      await expect(guard.write(failing(code))).rejects.toMatchObject({ code });
      await expect(guard.read(failing(code))).rejects.toMatchObject({ code });
      expect(await guard.write(() => 'written')).toBe('written');
      expect(guard.isWritable()).toBe(true);
    },
  );

  it.each(['SQLITE_CORRUPT', 'SQLITE_CORRUPT_INDEX', 'SQLITE_NOTADB'])(
    'rejects a read after an error at %s, and writes nothing after such an error in a write',
    async (code) => {
      await expect(guard.read(failing(code))).rejects.toMatchObject({ code });
      const set = (name: string) => () => void database.prepare("INSERT INTO settings VALUES (?, '')").run(name);
      await guard.write(set('before'));
      const group = await Promise.allSettled([
        guard.write(set('a')),
        guard.write(failing(code)),
        guard.write(set('b')),
      ]);
      expect(group.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
      await expect(guard.failed).resolves.toMatchObject({ code });
      await expect(guard.write(set('after'))).rejects.toMatchObject({
        message: 'Storage has failed; nothing was written.',
      });
      expect(guard.isWritable()).toBe(false);
      expect(await guard.read(() => database.prepare('SELECT name FROM settings').pluck().all())).toEqual(['before']);
    },
  );

  it('rejects writes that waited for a lock meanwhile, too', async () => {
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    const waiting = guard.write(() => database.exec("INSERT INTO settings VALUES ('a', 'b')"));
    // Changes of the same turn would be in the same group.
    await new Promise((resolve) => setImmediate(resolve));
    await expect(guard.read(failing('SQLITE_IOERR_FSYNC'))).rejects.toMatchObject({ code: 'SQLITE_IOERR_FSYNC' });
    other.exec('ROLLBACK');
    other.close();
    await expect(waiting).rejects.toMatchObject({ message: 'Storage has failed; nothing was written.' });
  });

  it('rejects writes with a reason when it has become read-only, and accepts them afterwards', async () => {
    const readOnly = new Database(file, { readonly: true });
    const reject = () => readOnly.exec("INSERT INTO settings VALUES ('a', 'b')");
    await expect(guard.write(reject)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'Storage is read-only; nothing was written.',
    });
    readOnly.close();
    expect(guard.isWritable()).toBe(true);
  });
});

describe('D-07 a database that another process has locked', () => {
  it('D-01 never blocks the event loop with a wait inside SQLite', () => {
    const database = openOwnDatabase(file);
    createWriteGate(database);
    expect(database.pragma('busy_timeout', { simple: true })).toBe(0n);
  });

  it('serves other requests while many writes wait, ends them with UNAVAILABLE, and loses none', async () => {
    const t = await startOwnApp({ KEYFRONT_DATA: folder });
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    // No write gives up before the clock moves.
    vi.useFakeTimers({ toFake: ['performance'] });
    let isOver = false;
    const writes = Promise.all(
      Array.from({ length: 8 }, async (_, index) => t.update('k1', { alias: `lost ${index}` })),
    );
    void writes.then(() => {
      isOver = true;
    });
    for (let round = 0; round < 30; round += 1) {
      expect((await t.send('/health')).status).toBe(200);
      expect((await sendRequest(t, 'GET', '/svc/org/keys/k1')).status).toBe(200);
    }
    expect(isOver).toBe(false);
    await until(() => {
      vi.advanceTimersByTime(1_000);
      return isOver;
    }, 'The end of all writes');
    vi.useRealTimers();
    expect((await writes).map(({ status, body }) => [status, body['message']])).toStrictEqual(
      Array.from({ length: 8 }, () => [503, 'Storage is busy.']),
    );
    other.exec('ROLLBACK');
    other.close();
    const aliases = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => (await t.update('k1', { alias: `kept ${index}` })).status),
    );
    expect(aliases).toStrictEqual(Array.from({ length: 8 }, () => 200));
    expect((await stateOf(t, 'k1')).key?.version).toBe(9);
  });
});

describe('D-09 a write-ahead log', () => {
  it('starts again after the end of the long reader that made it large', async () => {
    const t = await startOwnApp({ KEYFRONT_DATA: folder });
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    const reader = new Database(file);
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM keys').get();
    const used = () => {
      const other = new Database(file, { readonly: true });
      const bytes = logLength(other);
      other.close();
      return bytes;
    };
    for (let index = 0; used() <= 33 * 1024 * 1024; index += 1) {
      const keys = Array.from({ length: 200 }, (_, key) => ({
        key_id: `k ${index} ${key}`,
        org_id: 'acme',
        meta_data: { notes: 'x'.repeat(30_000) },
      }));
      await t.importKeys(...keys);
    }
    reader.exec('COMMIT');
    reader.close();
    await until(async () => {
      expect((await t.update('k1', { meta_data: { notes: 'y'.repeat(30_000) } })).status).toBe(200);
      expect((await t.update('k1', { alias: 'small' })).status).toBe(200);
      return used() < 1024 * 1024;
    });
  });
});
