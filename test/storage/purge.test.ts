import { beforeEach, expect, it, vi } from 'vitest';
import type { StoredKey } from '../../src/keys/key.js';
import type { Database } from '../../src/storage/sqlite/connection.js';
import { parametersOf } from '../../src/storage/sqlite/session.js';
import { createWriteGate } from '../../src/storage/sqlite/write-gate.js';
import { signer } from '../support/signer.js';
import { openOwnDatabase, sqliteKeyStore } from '../support/storage.js';
import { aChange, aKey } from '../support/factories.js';

const moment = new Date('2026-01-31T12:00:00Z');
let database: Database;
beforeEach(() => {
  database = openOwnDatabase();
});

/** How many keys a purge removes, and in how many transactions, between which other requests are served. */
async function purge(keys: readonly StoredKey[]): Promise<{ purged: number; writes: number }> {
  const guard = createWriteGate(database);
  let writes = 0;
  const counting: typeof guard = {
    ...guard,
    write: (change) => {
      writes += 1;
      return guard.write(change);
    },
  };
  await sqliteKeyStore(database, signer, { gate: guard }).add(keys.map(aChange));
  const purged = await sqliteKeyStore(database, signer, { gate: counting }).purge(moment);
  return { purged, writes };
}
const deleted = (name: string, bytes: number): StoredKey =>
  aKey(name, { definition: { metaData: { notes: 'x'.repeat(bytes) } }, deleted: new Date(0) });

it('purges large keys one by one', async () => {
  const keys = ['a', 'b', 'c'].map((name) => deleted(name, 600_000));
  expect(await purge(keys)).toEqual({ purged: 3, writes: 3 });
});

it('purges a hundred small keys in one transaction', async () => {
  const keys = Array.from({ length: 250 }, (_, n) => deleted(`key ${n}`, 10));
  expect(await purge(keys)).toEqual({ purged: 250, writes: 3 });
});

it('skips any number of damaged keys', async () => {
  const keys = Array.from({ length: 600 }, (_, n) => deleted(`key ${String(n).padStart(3, '0')}`, 10));
  await sqliteKeyStore(database, signer).add(keys.map(aChange));
  database.exec(`UPDATE keys SET mac = zeroblob(32) WHERE id IN (SELECT id FROM keys ORDER BY id LIMIT 550)`);
  expect(await sqliteKeyStore(database, signer).purge(moment)).toBe(50);
});

it('removes the use of a key by day without reading that of other keys', async () => {
  await sqliteKeyStore(database, signer).add([aChange(deleted('used', 10))]);
  database.exec(`UPDATE keys SET last_used = 1; INSERT INTO key_days SELECT 20000, id, 1, 0 FROM keys`);
  const prepare = vi.spyOn(database, 'prepare');
  expect(await sqliteKeyStore(database, signer).purge(moment)).toBe(1);
  const sent = prepare.mock.calls.map(([text]) => text).filter((text) => text.includes('key_days'));
  prepare.mockRestore();
  const steps = sent.flatMap((text) => {
    const explained = database.prepare<[object], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`);
    return explained.all(parametersOf(text.startsWith('DELETE') ? [[20_000n], 1n] : [])).map(({ detail }) => detail);
  });
  expect(steps.filter((step) => step.includes('key_days'))).toEqual([
    'SEARCH key_days USING PRIMARY KEY',
    'SEARCH key_days USING PRIMARY KEY',
    expect.stringMatching(/^SEARCH key_days USING PRIMARY KEY \(day=\? AND key=\?\)$/),
  ]);
  expect(database.prepare('SELECT count(*) FROM key_days').pluck().get()).toBe(0n);
});
