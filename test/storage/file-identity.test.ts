import { copyFile, rename, rm, truncate } from 'node:fs/promises';
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

describe('D-05 a database file whose content is overwritten while it is in use', () => {
  const copy = async (...suffixes: readonly string[]) => {
    for (const suffix of suffixes) await copyFile(`${file}${suffix}`, `${file}${suffix}.older`);
  };
  /** As `cp` does: the file stays the same one. */
  const putBack = async (...suffixes: readonly string[]) => {
    for (const suffix of suffixes) await copyFile(`${file}${suffix}.older`, `${file}${suffix}`);
  };

  const overwrites: [string, RegExp, () => Promise<void>][] = [
    [
      'an older copy of the database',
      /keyfront\.db was overwritten/,
      async () => {
        await copy('');
        await update();
        await engine.checkFiles();
        await putBack('');
      },
    ],
    [
      'an older copy of the database and its log',
      /keyfront\.db(-wal)? was overwritten/,
      async () => {
        await update();
        await copy('', '-wal');
        await update();
        await engine.checkFiles();
        await putBack('', '-wal');
      },
    ],
    [
      'an older copy of the log',
      /keyfront\.db-wal was overwritten/,
      async () => {
        await update();
        await copy('-wal');
        await update();
        await putBack('-wal');
      },
    ],
    [
      'no log',
      /keyfront\.db-wal was overwritten/,
      async () => {
        await update();
        await truncate(`${file}-wal`);
      },
    ],
    [
      'the first frame of the log',
      /keyfront\.db-wal was overwritten/,
      async () => {
        await update();
        await truncate(`${file}-wal`, 5_000);
      },
    ],
    ['text', /keyfront\.db(-wal)? was overwritten/, () => truncate(file, 5)],
  ];

  it.each(overwrites)('is found by the next check, after changes in between: %s', async (_, reason, overwrite) => {
    await update();
    await engine.checkFiles();
    await overwrite();
    for (let change = 0; change < 3; change += 1) await update().catch(() => undefined);
    await expect(engine.checkFiles()).rejects.toThrow(reason);
    expect((await engine.failed).message).toMatch(reason);
    await expect(update()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await engine.whyNotReady()).toBe('storage accepts no writes');
    await opened.close();
  });

  it('is found by the next check, without a change in between', async () => {
    await engine.checkFiles();
    await copy('');
    await update();
    await engine.checkFiles();
    await putBack('');
    await expect(engine.checkFiles()).rejects.toThrow('keyfront.db was overwritten');
    await opened.close();
  });

  it('is found without a change in between if the log was cut off', async () => {
    await update();
    await truncate(`${file}-wal`);
    await expect(engine.checkFiles()).rejects.toThrow('keyfront.db-wal was overwritten');
    await opened.close();
  });

  it('is found although another setting was written since, and copied into the file', async () => {
    await engine.checkFiles();
    await copy('');
    await update();
    await engine.checkFiles();
    await putBack('');
    expect(await engine.whyNotReady()).toBeUndefined();
    const tool = new Database(file);
    tool.pragma('wal_checkpoint(PASSIVE)');
    tool.close();
    await expect(engine.checkFiles()).rejects.toThrow('keyfront.db was overwritten');
    await opened.close();
  });

  it('is found by one process although another one has added its marker to the older state', async () => {
    const [other, second] = await open();
    const tool = new Database(file);
    tool.pragma('wal_checkpoint(TRUNCATE)');
    tool.close();
    await copy('');
    await update();
    await engine.checkFiles();
    await putBack('');
    await second.checkFiles();
    await expect(engine.checkFiles()).rejects.toThrow('keyfront.db was overwritten');
    await opened.close();
    await other.close();
  });

  it('is found in a service that has not made a check since its start', async () => {
    await engine.checkFiles();
    await copy('');
    await update();
    await engine.checkFiles();
    const [other, second] = await open();
    await putBack('');
    await expect(second.checkFiles()).rejects.toThrow('keyfront.db was overwritten');
    await other.close();
    await opened.close();
  });

  it('is not found in files that only this service, others and their tools write to', async () => {
    const [other, second] = await open();
    for (let round = 0; round < 4; round += 1) {
      await Promise.all([engine.checkFiles(), second.checkFiles(), update()]);
      await second.store.update(hashOf(1), (found) => anUpdate(found));
      await engine.checkFiles();
      await engine.copyTo(`${file}.${round}`, () => undefined);
      const tool = new Database(file);
      tool.pragma(`wal_checkpoint(${['TRUNCATE', 'RESTART', 'FULL', 'PASSIVE'][round] ?? ''})`);
      if (round % 2 === 0) await update();
      tool.close();
      await second.checkFiles();
      await engine.checkFiles();
    }
    await other.close();
    await update();
    await engine.checkFiles();
    expect(await engine.checkWritable()).toBe(true);
    await opened.close();
  });

  it('is not found while a long read holds back the log', async () => {
    const reader = new Database(file);
    await update();
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM keys').get();
    for (let round = 0; round < 3; round += 1) {
      await update();
      await engine.checkFiles();
    }
    reader.close();
    await engine.checkFiles();
    expect(await engine.checkWritable()).toBe(true);
    await opened.close();
  });

  it('is not written to by checks while nothing else is', async () => {
    const marker = () => {
      const connection = new Database(file, { readonly: true });
      const value = connection.prepare(`SELECT value FROM settings WHERE name = 'marker'`).pluck().get();
      connection.close();
      return value;
    };
    const [other, second] = await open();
    await engine.checkFiles();
    await second.checkFiles();
    await engine.checkFiles();
    const before = marker();
    for (let round = 0; round < 3; round += 1) for (const one of [engine, second]) await one.checkFiles();
    expect(marker()).toBe(before);
    await update();
    for (const one of [engine, second, engine, second]) await one.checkFiles();
    expect(marker()).not.toBe(before);
    await other.close();
    await opened.close();
  });
});
