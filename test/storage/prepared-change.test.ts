import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { StoredKey } from '../../src/keys/key.js';
import type { KeyTransition } from '../../src/keys/ports.js';
import type { Database } from '../../src/storage/sqlite/connection.js';
import { createWriteGate } from '../../src/storage/sqlite/write-gate.js';
import { keyTable, type StoredKeyRow } from '../../src/storage/records/key.js';
import { createSignedTable } from '../../src/storage/records/signed.js';
import { sqliteDialect } from '../../src/storage/sql/dialect.js';
import { rowTexts } from '../../src/storage/sql/rows.js';
import { createScheduler } from '../../src/lib/scheduler.js';
import { signer } from '../support/signer.js';
import { openOwnDatabase, sqliteKeyStore } from '../support/storage.js';
import { aChange, aKey, anUpdate, rowIDOf } from '../support/factories.js';

const parseNatively = JSON.parse as (text: string) => unknown;

const large = (name: string) => aKey(name, { definition: { metaData: { notes: 'x'.repeat(20_000) } } });

let database: Database;
beforeEach(() => {
  database = openOwnDatabase();
});

/** A store, how many time slices its work has requested, and whether a change is applied within a transaction. */
function watchedStore() {
  const slices = createScheduler();
  let count = 0;
  const counting = {
    next: () => {
      count += 1;
      return slices.next();
    },
  };
  const store = sqliteKeyStore(database, signer, { gate: createWriteGate(database, { slices: counting }) });
  const applied: boolean[] = [];
  const change = (found: StoredKey | undefined): KeyTransition => {
    applied.push(database.inTransaction);
    return anUpdate(found);
  };
  return { store, applied, change, slicesOf: () => count };
}

it('verifies and parses each key within the time slice that was granted for it', async () => {
  const events: string[] = [];
  const granting = { next: () => void events.push('slice') };
  const store = sqliteKeyStore(database, signer, { gate: createWriteGate(database, { slices: granting }) });
  const added = ['one', 'two', 'three'].map(large);
  await store.add(added.map((key) => aChange(key)));
  const parse = vi.spyOn(JSON, 'parse');
  onTestFinished(() => parse.mockRestore());
  parse.mockImplementation((text) => {
    if (text.includes('notes')) events.push('parse');
    return parseNatively(text);
  });
  events.length = 0;
  await Promise.all(added.map(({ keyHash }) => store.find(keyHash)));
  // The first slice of each key is for its statement.
  expect(events).toEqual(['slice', 'slice', 'slice', 'slice', 'parse', 'slice', 'parse', 'slice', 'parse']);
});

const keys = createSignedTable(signer, keyTable);

/** What a consumption by another process does to a row: it stays authentic, and has another signature. */
function consumeElsewhere(keyHash: string): void {
  const { keyColumns } = rowTexts(sqliteDialect);
  const row = database
    .prepare<[bigint], StoredKeyRow>(`SELECT ${keyColumns} FROM keys k WHERE k.id = ?`)
    .get(rowIDOf(keyHash));
  if (!row) throw new Error('There is no such key.');
  const next = keys.signed({ ...row, quota_used: row.quota_used + 1n });
  database.prepare('UPDATE keys SET quota_used = @quota_used, mac = @mac WHERE id = @id').run(next);
}

describe('a change of a key with a large definition', () => {
  it('is prepared in time slices before its transaction', async () => {
    const { store, applied, change, slicesOf } = watchedStore();
    const key = large('large');
    await store.add([aChange(key)]);
    const before = slicesOf();
    expect((await store.update(key.keyHash, change))?.next.version).toBe(2);
    expect([applied, slicesOf() - before]).toEqual([[false], 4]);
    expect(await store.historyOf(key.keyHash)).toHaveLength(2);
    expect(await store.find(key.keyHash)).toMatchObject({ version: 2 });
  });

  it('is prepared again when another change commits first', async () => {
    const { store } = watchedStore();
    const key = large('contended');
    await store.add([aChange(key)]);
    const within: boolean[] = [];
    const done = await store.update(key.keyHash, (found) => {
      if (within.push(database.inTransaction) === 1) consumeElsewhere(key.keyHash);
      return anUpdate(found);
    });
    expect(within).toEqual([false, false]);
    expect(done?.next).toMatchObject({ version: 2, quota: { used: 1n } });
  });

  it('is applied within its transaction after three others committed first', async () => {
    const { store } = watchedStore();
    const key = large('hot');
    await store.add([aChange(key)]);
    const within: boolean[] = [];
    const applied = await store.update(key.keyHash, (found) => {
      within.push(database.inTransaction);
      // Another process, whose change is there before the transaction of this one.
      if (!database.inTransaction) consumeElsewhere(key.keyHash);
      return anUpdate(found);
    });
    expect(within).toEqual([false, false, false, true]);
    expect(applied?.next).toMatchObject({ version: 2, quota: { used: 3n } });
  });

  it('writes nothing when it throws', async () => {
    const { store } = watchedStore();
    const key = large('failing');
    await store.add([aChange(key)]);
    const fail = () => {
      throw new Error('not this one');
    };
    await expect(store.update(key.keyHash, fail)).rejects.toThrow('not this one');
    expect(await store.find(key.keyHash)).toEqual(await sqliteKeyStore(database, signer).find(key.keyHash));
    expect(await store.find(key.keyHash)).toMatchObject({ version: 1 });
  });
});

it('applies a change of a small key at once, within its transaction', async () => {
  const { store, applied, change, slicesOf } = watchedStore();
  const key = aKey('small');
  await store.add([aChange(key)]);
  const before = slicesOf();
  await store.update(key.keyHash, change);
  expect([applied, slicesOf() - before]).toEqual([[true], 0]);
});
