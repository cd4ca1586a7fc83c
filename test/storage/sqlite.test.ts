import { readdir, readFile, writeFile, chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../src/lib/errors.js';
import { configure, openDatabase } from '../../src/storage/sqlite/connection.js';
import { schemaVersion } from '../../src/storage/sql/schema.js';
import { temporaryFolder } from '../support/folder.js';
import { signer } from '../support/signer.js';
import { openOwnDatabase, sqliteKeyStore } from '../support/storage.js';
import { eventLoopTurns } from '../support/until.js';
import { aChange, aKey, anUpdate, hashOf } from '../support/factories.js';
import { keyStoreContract } from './key-store.contract.js';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder, 'keyfront.db');
});

keyStoreContract('a SQLite file', async () => ({
  open: async () => {
    const database = openDatabase(file);
    return { store: sqliteKeyStore(database, signer), close: async () => void database.close() };
  },
  tamper: async (statement) => {
    const database = new Database(file);
    database.exec(statement);
    database.close();
  },
}));

/** Opens the file for the running test, and adds the key 1. */
async function openWithKey() {
  const database = openOwnDatabase(file);
  const store = sqliteKeyStore(database, signer);
  await store.add([aChange(aKey(1))]);
  return { database, store };
}

/** How many transactions a write-ahead log holds: frames that name the size of the database end one. */
function commitsIn(wal: Buffer): number {
  const frameBytes = 24 + wal.readUInt32BE(8);
  const frames = (wal.length - 32) / frameBytes;
  return Array.from({ length: frames }, (_, index) => wal.readUInt32BE(32 + index * frameBytes + 4)).filter(Boolean)
    .length;
}

describe('a SQLite file', () => {
  it('sorts in its folder while keys are loaded, and in memory before and after', () => {
    const database = openOwnDatabase(file);
    const places = () => [database.pragma('temp_store', { simple: true }), database.pragma('temp_store_directory')];
    const [inFiles, inMemory] = [1n, 2n];
    expect(places()[0]).toBe(inMemory);
    configure(database, 'indexes');
    expect(places()).toStrictEqual([inFiles, [{ temp_store_directory: folder }]]);
    configure(database, 'normal');
    expect(places()[0]).toBe(inMemory);
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
    expect(String(openOwnDatabase(file).pragma('synchronous', { simple: true }))).toBe('2');
  });

  it('commits once for all quota changes that are acknowledged together', async () => {
    const { database, store } = await openWithKey();
    const changes = Array.from({ length: 200 }, (_, index) => ({
      keyHash: hashOf(1),
      identity: aKey(1).identity,
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
  });

  it('is one file again once it is closed', async () => {
    const { database } = await openWithKey();
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
    const opened = [openOwnDatabase(file), openOwnDatabase(file)];
    const versions = opened.map((database) => Number(database.pragma('user_version', { simple: true })));
    expect(versions).toStrictEqual([schemaVersion, schemaVersion]);
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

  it('D-07 rejects an update with UNAVAILABLE and a time to retry, writes nothing, and loses nothing', async () => {
    const { store } = await openWithKey();
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
  });

  it('is locked before a change is computed, so that no change reads a value that another replaces', async () => {
    const { store } = await openWithKey();
    let requested = 0;
    await whileLocked(async () => {
      const attempt = store.update(hashOf(1), (found) => {
        requested += 1;
        return anUpdate(found);
      });
      await expect(attempt).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    });
    expect(requested).toBe(0);
  });

  it('is waited for if it is unlocked in time', async () => {
    const { store } = await openWithKey();
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    const attempt = store.update(hashOf(1), (found) => anUpdate(found));
    await eventLoopTurns();
    other.exec('ROLLBACK');
    expect((await attempt)?.next.version).toBe(2);
    other.close();
  });
});
