import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { backupDatabase } from '../../src/storage/sqlite/maintenance.js';
import { openReadOnly } from '../../src/storage/sqlite/connection.js';
import { temporaryFolder } from '../support/folder.js';
import { openOwnDatabase } from '../support/storage.js';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder, 'keyfront.db');
});

describe('D-11 a copy of a database', () => {
  it('is a consistent snapshot, and completes however often others write meanwhile', async () => {
    const database = openOwnDatabase(file);
    const write = database.prepare<[string, string]>('INSERT INTO settings (name, value) VALUES (?, ?)');
    write.run('large', 'x'.repeat(20_000_000));
    write.run('a', 'before');
    const other = new Database(file);
    const writeBeside = other.prepare<[string, string]>('INSERT INTO settings (name, value) VALUES (?, ?)');
    const steps: number[] = [];
    await backupDatabase(database, join(folder, 'copy.db'), (pages) => {
      steps.push(pages);
      writeBeside.run(`during ${steps.length}`, 'y'.repeat(10_000));
      if (steps.length > 100) throw new Error('The copy begins anew with every write.');
    });
    expect(steps.length).toBeGreaterThan(3);
    expect(steps).toStrictEqual(steps.toSorted((a, b) => a - b));
    other.close();
    database.close();
    const copy = openReadOnly(join(folder, 'copy.db'));
    expect(copy.prepare('SELECT name FROM settings ORDER BY name').all()).toStrictEqual([
      { name: 'a' },
      { name: 'large' },
    ]);
    copy.close();
    expect((await readdir(folder)).sort()).toStrictEqual(['copy.db', 'keyfront.db']);
  });

  it('cannot be written to when it is opened as a copy', async () => {
    await backupDatabase(openOwnDatabase(file), join(folder, 'copy.db'), () => undefined);
    const copy = openReadOnly(join(folder, 'copy.db'));
    expect(() => copy.exec("INSERT INTO settings VALUES ('a', 'b')")).toThrow('attempt to write a readonly database');
    copy.close();
  });

  it('replaces no existing file', async () => {
    await expect(backupDatabase(openOwnDatabase(file), file, () => undefined)).rejects.toThrow('EEXIST');
  });
});
