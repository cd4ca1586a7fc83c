import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../support/app.js';
import { temporaryFolder } from '../support/folder.js';

let folder: string;
let t: TestApp;
/** The names of all indexes of a new file. */
let all: string[];

const start = () => startOwnApp({ KEYFRONT_DATA: folder });
/** Runs work on another connection to the file. */
function onFile<T>(work: (database: Database.Database) => T): T {
  const database = new Database(join(folder, 'keyfront.db'));
  try {
    return work(database);
  } finally {
    database.close();
  }
}
const indexes = () =>
  onFile((database) =>
    database.prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY name`).pluck().all(),
  );

beforeEach(async () => {
  folder = await temporaryFolder();
  t = await start();
  all = indexes();
});

describe('an import of keys into SQLite', () => {
  const searchIndexes = ['keys_by_alias', 'keys_by_update', 'deleted_keys_by_org', 'key_terms_by_org'];

  it('has no search indexes while it fills an empty store, and creates them at the end', async () => {
    expect(all).toStrictEqual(expect.arrayContaining(searchIndexes));
    const during = await t.app.services.load(async () => {
      await t.importKeys({ key_id: 'k1', org_id: 'acme', tags: ['a'] });
      return indexes();
    });
    expect(during).toContain('history_by_key');
    for (const name of searchIndexes) expect(during).not.toContain(name);
    expect(indexes()).toStrictEqual(all);
    expect(await t.app.services.damages()).toStrictEqual([]);
  });

  it('keeps the indexes of a store that has keys', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    expect(await t.app.services.load(() => Promise.resolve(indexes()))).toStrictEqual(all);
  });

  it('creates the indexes when it fails', async () => {
    const failed = t.app.services.load(async () => {
      await t.importKeys({ key_id: 'k1', org_id: 'acme' });
      throw new Error('The file ended.');
    });
    await expect(failed).rejects.toThrow('The file ended.');
    expect(indexes()).toStrictEqual(all);
  });

  it('leaves the indexes to the next start when its process ends in between', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    await t.close();
    onFile((database) => database.exec(searchIndexes.map((name) => `DROP INDEX ${name};`).join('\n')));
    t = await start();
    expect(indexes()).toStrictEqual(all);
    expect(await t.app.services.damages()).toStrictEqual([]);
  });
});
