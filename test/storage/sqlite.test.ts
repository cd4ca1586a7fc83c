import { mkdtemp, readdir, readFile, rm, writeFile, chmod, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../src/lib/errors.js';
import { configure, openDatabase } from '../../src/storage/sqlite/connection.js';
import { schemaVersion } from '../../src/storage/sql/schema.js';
import { startApp } from '../support/app.js';
import { signer } from '../support/signer.js';
import { sqliteKeyStore } from '../support/storage.js';
import { stateOf } from '../support/state.js';
import { eventLoopTurns } from '../support/until.js';
import { aChange, aKey, anUpdate, hashOf } from '../support/factories.js';
import { keyStoreContract } from './key-store.contract.js';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyfront-sqlite-'));
  file = join(folder, 'keyfront.db');
});
afterEach(async () => rm(folder, { recursive: true }));

keyStoreContract('a SQLite file', async () => {
  const own = await mkdtemp(join(tmpdir(), 'keyfront-contract-'));
  return {
    open: async () => {
      const database = openDatabase(join(own, 'keyfront.db'));
      return { store: sqliteKeyStore(database, signer), close: async () => void database.close() };
    },
    tamper: async (statement) => {
      const database = new Database(join(own, 'keyfront.db'));
      database.exec(statement);
      database.close();
    },
    remove: async () => rm(own, { recursive: true }),
  };
});

/** How many transactions a write-ahead log holds: frames that name the size of the database end one. */
function commitsIn(wal: Buffer): number {
  const frameBytes = 24 + wal.readUInt32BE(8);
  const frames = (wal.length - 32) / frameBytes;
  return Array.from({ length: frames }, (_, index) => wal.readUInt32BE(32 + index * frameBytes + 4)).filter(Boolean)
    .length;
}

describe('a SQLite file', () => {
  it('sorts in its folder while keys are loaded, and in memory before and after', () => {
    const database = openDatabase(file);
    const places = () => [database.pragma('temp_store', { simple: true }), database.pragma('temp_store_directory')];
    const [inFiles, inMemory] = [1n, 2n];
    expect(places()[0]).toBe(inMemory);
    configure(database, 'load');
    expect(places()).toStrictEqual([inFiles, [{ temp_store_directory: folder }]]);
    configure(database, 'normal');
    expect(places()[0]).toBe(inMemory);
    database.close();
  });

  it('D-01 is synced to disk: synchronous is FULL and the journal is WAL, also after writes', async () => {
    const database = openDatabase(file);
    const store = sqliteKeyStore(database, signer);
    const settings = () =>
      [database.pragma('synchronous', { simple: true }), database.pragma('journal_mode', { simple: true })].map(String);
    expect(settings()).toStrictEqual(['2', 'wal']);
    await store.add([aChange(aKey(1))]);
    await store.update(hashOf(1), (found) => anUpdate(found));
    expect(settings()).toStrictEqual(['2', 'wal']);
    database.close();
    const again = openDatabase(file);
    expect(String(again.pragma('synchronous', { simple: true }))).toBe('2');
    again.close();
  });

  it('commits once for all quota changes that are acknowledged together', async () => {
    const database = openDatabase(file);
    const store = sqliteKeyStore(database, signer);
    await store.add([aChange(aKey(1))]);
    const changes = Array.from({ length: 200 }, (_, index) => ({
      keyHash: hashOf(1),
      dateCreated: aKey(1).dateCreated,
      lastUpdated: BigInt(index),
      at: new Date(index),
      isReset: true,
      periodBefore: 0n,
      periodAfter: 0n,
    }));
    for (const quotaChange of changes) {
      await store.update(hashOf(1), (found) => ({ ...anUpdate(found), quotaChange }));
    }
    expect(await store.pendingFor(hashOf(1))).toHaveLength(200);
    database.pragma('wal_checkpoint(TRUNCATE)');
    await store.acknowledge(changes);
    expect(await store.pendingFor(hashOf(1))).toHaveLength(0);
    expect(commitsIn(await readFile(`${file}-wal`))).toBe(1);
    database.close();
  });

  it('is one file again once it is closed', async () => {
    const database = openDatabase(file);
    await sqliteKeyStore(database, signer).add([aChange(aKey(1))]);
    database.close();
    expect(await readdir(folder)).toStrictEqual(['keyfront.db']);
  });

  it('is rejected with a reason if it is no database, and is left unchanged', async () => {
    const text = 'this is a text file of another program\n'.repeat(100);
    await writeFile(file, text, { mode: 0o600 });
    expect(() => openDatabase(file)).toThrow(/^The database .*keyfront\.db cannot be used: file is not a database$/);
    expect(await readFile(file, 'utf8')).toBe(text);
  });

  it('D-06 is rejected by name if it is a folder, or below a file', async () => {
    await mkdir(file);
    expect(() => openDatabase(file)).toThrow(/^The database .*keyfront\.db cannot be opened: /);
    await writeFile(join(folder, 'a-file'), '');
    expect(() => openDatabase(join(folder, 'a-file', 'keyfront.db'))).toThrow(/^The database .* cannot be opened: /);
  });

  it.skipIf(process.getuid?.() === 0)(
    'is rejected by name if it cannot be read (needs a user who is not root)',
    async () => {
      await writeFile(file, '');
      await chmod(file, 0);
      expect(() => openDatabase(file)).toThrow(/^The database .*keyfront\.db cannot be opened: /);
    },
  );

  it('is migrated once by two processes that start together', () => {
    const first = openDatabase(file);
    const second = openDatabase(file);
    const versions = [first, second].map((database) => Number(database.pragma('user_version', { simple: true })));
    expect(versions).toStrictEqual([schemaVersion, schemaVersion]);
    first.close();
    second.close();
  });
});

describe('a SQLite file that another process has locked', () => {
  async function whileLocked(work: () => Promise<void>): Promise<void> {
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    try {
      await work();
    } finally {
      other.exec('ROLLBACK');
      other.close();
    }
  }

  it('rejects an update with UNAVAILABLE and a time to retry, writes nothing, and loses nothing', async () => {
    const database = openDatabase(file);
    const store = sqliteKeyStore(database, signer);
    await store.add([aChange(aKey(1))]);
    await whileLocked(async () => {
      const attempt = store.update(hashOf(1), (found) => anUpdate(found));
      const error: unknown = await attempt.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(AppError);
      expect(error).toMatchObject({ code: 'UNAVAILABLE', message: 'Storage is busy.', retryAfterSeconds: 1 });
      await expect(store.add([aChange(aKey(2))])).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      expect((await store.find(hashOf(1)))?.version).toBe(1);
    });
    expect(await store.find(hashOf(2))).toBeUndefined();
    expect(await store.historyOf(hashOf(1))).toHaveLength(1);
    expect((await store.update(hashOf(1), (found) => anUpdate(found)))?.next.version).toBe(2);
    database.close();
  });

  it('is locked before a change is computed, so that no change reads a value that another replaces', async () => {
    const database = openDatabase(file);
    const store = sqliteKeyStore(database, signer);
    await store.add([aChange(aKey(1))]);
    let requested = 0;
    await whileLocked(async () => {
      const attempt = store.update(hashOf(1), (found) => {
        requested += 1;
        return anUpdate(found);
      });
      await expect(attempt).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    });
    expect(requested).toBe(0);
    database.close();
  });

  it('is waited for if it is unlocked in time', async () => {
    const database = openDatabase(file);
    const store = sqliteKeyStore(database, signer);
    await store.add([aChange(aKey(1))]);
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    const attempt = store.update(hashOf(1), (found) => anUpdate(found));
    await eventLoopTurns();
    other.exec('ROLLBACK');
    expect((await attempt)?.next.version).toBe(2);
    other.close();
    database.close();
  });

  it('D-07 returns UNAVAILABLE in both APIs with Retry-After, and serves reads meanwhile', async () => {
    const t = await startApp({ KEYFRONT_DATA: folder });
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    const before = await stateOf(t, 'k1');
    await whileLocked(async () => {
      const rest = await t.update('k1', { alias: 'lost' });
      expect(rest.status).toBe(503);
      expect(rest.headers.get('retry-after')).toBe('1');
      expect(rest.body).toMatchObject({ status: 'error', code: 'UNAVAILABLE', message: 'Storage is busy.' });
      const graphql = await t.graphql('mutation { updateOrgKey(keyID: "k1", input: { alias: "lost" }) { status } }');
      expect(graphql.body).toMatchObject({
        errors: [{ message: 'Storage is busy.', extensions: { code: 'UNAVAILABLE' } }],
      });
      expect((await t.preview({})).status).toBe(200);
      expect((await t.send('/ready')).status).toBe(200);
    });
    expect(await stateOf(t, 'k1')).toStrictEqual(before);
    await t.close();
  });
});
