import { beforeEach, expect, it } from 'vitest';
import { schemaVersion } from '../../src/storage/sql/schema.js';
import type { Storage } from '../../src/storage/storage.js';
import { describeEngines, makeOwnPlace } from '../support/engines.js';
import { aChange, aKey, anUpdate, aRevision, hashOf } from '../support/factories.js';
import { openOwnStorage } from '../support/storage.js';

describeEngines('a database', (engine) => {
  let storage: Storage;
  beforeEach(async () => {
    storage = await openOwnStorage(await makeOwnPlace(engine));
  });

  it('returns the newest value of a setting, and none of one that was not set', async () => {
    const { settings } = storage;
    expect(await settings.get('a')).toBeUndefined();
    for (const value of ['first', 'second']) await settings.set('a', value);
    expect(await settings.get('a')).toBe('second');
  });

  it('lists the settings whose names begin with a text, by their names', async () => {
    const { settings } = storage;
    for (const name of ['test.b', 'test.a', 'test_', 'tes', 'other test.']) await settings.set(name, `of ${name}`);
    expect(await settings.list('test.')).toStrictEqual([
      ['test.a', 'of test.a'],
      ['test.b', 'of test.b'],
    ]);
    expect(await settings.list('test%')).toStrictEqual([]);
  });

  it('counts its keys and names its newest change', async () => {
    const { store } = storage;
    expect(await storage.contents()).toStrictEqual({ schemaVersion, keys: 0, newestChange: undefined });
    await store.add([aKey(1), aKey(2)].map(aChange));
    await store.update(hashOf(1), (found) => anUpdate(found));
    expect(await storage.contents()).toStrictEqual({
      schemaVersion,
      keys: 2,
      newestChange: { at: aRevision(aKey(1)).at, keyHash: hashOf(1), version: 2 },
    });
  });
});
