import { copyFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Storage, DatabaseHandle } from '../../src/storage/storage.js';
import { openSQLite } from '../../src/storage/sqlite/engine.js';
import { temporaryFolder } from '../support/folder.js';
import { signer } from '../support/signer.js';
import { storageDeps } from '../support/storage.js';
import { aChange, aKey, anUpdate, hashOf } from '../support/factories.js';

let file: string;
let opened: DatabaseHandle;
let engine: Storage;
beforeEach(async () => {
  file = join(await temporaryFolder(), 'keyfront.db');
  [opened, engine] = await open();
  await engine.store.add([aChange(aKey(1))]);
});

async function open(): Promise<[DatabaseHandle, Storage]> {
  const one = await openSQLite(file, 'create');
  return [one, await one.start(signer, storageDeps())];
}

const update = () => engine.store.update(hashOf(1), (found) => anUpdate(found));
const versionNow = async () => {
  const [again, other] = await open();
  const found = await other.store.find(hashOf(1));
  const damages = await other.damages();
  await again.close();
  expect(damages).toStrictEqual([]);
  return found?.version;
};

/** Puts a copy of the database as it is now in its place, as a restore under a running service does. */
async function replace(): Promise<void> {
  await engine.copyTo(`${file}.copy`, () => undefined);
  await update();
  await rename(`${file}.copy`, file);
}

const faults: [string, RegExp, () => Promise<void>][] = [
  ['replacement of the file', /keyfront\.db was replaced by another file/, replace],
  ['deletion of the file', /keyfront\.db was deleted/, () => rm(file)],
  ['deletion of its -wal', /keyfront\.db-wal was deleted/, () => rm(`${file}-wal`)],
  ['deletion of its -shm', /keyfront\.db-shm was deleted/, () => rm(`${file}-shm`)],
  [
    'deleted with its -wal',
    /keyfront\.db was deleted/,
    async () => {
      await rm(file);
      await rm(`${file}-wal`);
    },
  ],
  [
    'replacement of its -wal',
    /keyfront\.db-wal was replaced/,
    async () => {
      await copyFile(`${file}-wal`, `${file}.other`);
      await rename(`${file}.other`, `${file}-wal`);
    },
  ],
];

describe('D-05 a database file in use', () => {
  it.each(faults)('acknowledges no write after the %s', async (_, reason, fault) => {
    await update();
    await fault();
    const unknown = {
      code: 'UNAVAILABLE',
      message: 'Storage failed, and it is not known whether this was written: read before you try again.',
    };
    // Two at once are a group; the next one meets what the group has found.
    const group = await Promise.allSettled([update(), update()]);
    for (const one of group) expect(one).toMatchObject({ status: 'rejected', reason: unknown });
    expect((await engine.failed).message).toMatch(reason);
    await expect(update()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'Storage has failed; nothing was written.',
    });
    expect(await engine.whyNotReady()).toBe('storage accepts no writes');
    await opened.close();
  });

  it.each(faults)('reports, without a write, the %s', async (_, reason, fault) => {
    expect(await engine.checkWritable()).toBe(true);
    await fault();
    expect(await engine.checkWritable()).toBe(false);
    expect((await engine.failed).message).toMatch(reason);
    await opened.close();
  });

  it('leaves no log behind when it is replaced, which the next start would replay into the new file', async () => {
    await update();
    await replace();
    await expect(update()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await opened.close();
    // What the copy held: the update after it was acknowledged before the file was replaced.
    expect(await versionNow()).toBe(2);
  });

  it('keeps acknowledged changes when its -wal was deleted, once it is closed', async () => {
    await update();
    await rm(`${file}-wal`);
    expect(await engine.checkWritable()).toBe(false);
    await opened.close();
    expect(await versionNow()).toBe(2);
  });

  it('stays valid over checkpoints, a backup, and other connections', async () => {
    for (let round = 0; round < 3; round += 1) {
      await update();
      const [other, second] = await open();
      await second.store.update(hashOf(1), (found) => anUpdate(found));
      await other.close();
      await engine.copyTo(`${file}.${round}`, () => undefined);
      const checkpointing = new Database(file);
      expect(checkpointing.pragma('wal_checkpoint(TRUNCATE)')).toMatchObject([{ busy: 0 }]);
      checkpointing.close();
    }
    await update();
    expect(await engine.checkWritable()).toBe(true);
    await opened.close();
    expect(await versionNow()).toBe(8);
  });
});
