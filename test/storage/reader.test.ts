import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createReadBudget } from '../../src/keys/read-budget.js';
import type { StoredKey } from '../../src/keys/key.js';
import type { KeyQuery } from '../../src/keys/key-query.js';
import { clockMs, createBoundedQuery, type Query, type QueryResult } from '../../src/storage/sqlite/bounded-query.js';
import { openDatabase, type Database } from '../../src/storage/sqlite/connection.js';
import { createWriteGate } from '../../src/storage/sqlite/write-gate.js';
import { createReader, createWorkerRunner } from '../../src/storage/sqlite/reader.js';
import { temporaryFolder } from '../support/folder.js';
import { signer } from '../support/signer.js';
import { openOwnDatabase, sqliteKeyStore } from '../support/storage.js';
import { until } from '../support/until.js';
import { aChange, aKey, hashOf } from '../support/factories.js';

const now = new Date('2026-01-31T12:00:00Z');
const large = 100_000;
const withNotes = (name: string): StoredKey =>
  aKey(name, { definition: { alias: name, metaData: { notes: name.padEnd(large, 'x') } } });
const page = (changes: Partial<KeyQuery> = {}): KeyQuery => ({
  ...{ filter: {}, orderBy: 'KEY_HASH', descending: false, limit: 100, now },
  ...changes,
});

let folder: string;
let database: Database;
beforeEach(async () => {
  folder = await temporaryFolder();
  database = openOwnDatabase(join(folder, 'keyfront.db'));
});

/** A store whose long reads go to `run`, and the calls that it received. */
function storeWith(run: (query: Query) => Promise<QueryResult>) {
  const requested: Query[] = [];
  const guard = createWriteGate(database);
  const reader = createReader(database, guard, {
    run: (query) => {
      requested.push(query);
      return run(query);
    },
    close: () => Promise.resolve(),
  });
  return { store: sqliteKeyStore(database, signer, { gate: guard, reader }), requested };
}
const never = () => new Promise<QueryResult>(() => undefined);

describe('a read of many keys', () => {
  // The time limits of a quick read and of a request advance only when a test advances them.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('is rejected at the deadline of its request when its worker does not return', async () => {
    const { store, requested } = storeWith(never);
    const reads = createReadBudget(60_000);
    const count = expect(store.count({}, now, reads)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await until(() => requested.length === 1, 'The query of the worker');
    vi.advanceTimersByTime(60_000);
    await count;
    await expect(store.count({}, now, reads)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(requested).toHaveLength(1);
  });

  it('sends its worker the deadline', async () => {
    const { store, requested } = storeWith(() => Promise.resolve({ outcome: 'late' }));
    const reads = createReadBudget(60_000);
    await expect(store.count({}, now, reads)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(requested[0]?.untilMs).toBeCloseTo(performance.timeOrigin + reads.endsAtMs, 3);
  });

  it('fails with the code of the database when a worker has failed', async () => {
    const { store } = storeWith(() =>
      Promise.resolve({ outcome: 'failed', message: 'database disk image is malformed', code: 'SQLITE_CORRUPT' }),
    );
    await expect(store.count({}, now)).rejects.toMatchObject({ name: 'SqliteError', code: 'SQLITE_CORRUPT' });
  });

  it('uses a worker for counts and sums, and for pages of large keys, but not for small pages', async () => {
    const { store, requested } = storeWith(never);
    await store.add(['a', 'b', 'c', 'd'].map((name) => aChange(withNotes(name))));
    const names = ({ keys }: { keys: readonly StoredKey[] }) => keys.map(({ definition }) => definition.alias);
    expect(names(await store.list(page({ limit: 2 }), createReadBudget(60_000)))).toHaveLength(2);
    expect(requested).toHaveLength(0);
    void store.list(page(), createReadBudget(60_000));
    await until(() => requested.length > 0, 'The query of the worker');
    expect(requested).toHaveLength(1);
  });

  it('reads no row of a page that is larger than the rest of the budget', async () => {
    const { store, requested } = storeWith(never);
    await store.add(['a', 'b', 'c'].map((name) => aChange(withNotes(name))));
    const reads = createReadBudget(60_000, 2 * large);
    await expect(store.list(page(), reads)).rejects.toMatchObject({ code: 'TOO_LARGE' });
    await expect(store.findMany(['a', 'b', 'c'].map(hashOf), reads)).rejects.toMatchObject({ code: 'TOO_LARGE' });
    expect(requested).toHaveLength(0);
    expect(reads.bytesLeft()).toBe(2 * large);
  });
});

it('stops a statement within its scan at the end of its time', () => {
  const run = createBoundedQuery(database);
  const numbers = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) ';
  const query = { sql: `${numbers} SELECT count(*) AS count FROM n WHERE in_time()`, parameters: {} };
  expect(run({ ...query, untilMs: clockMs() + 5 })).toStrictEqual({ outcome: 'late' });
  expect(run({ ...query, untilMs: 0 })).toStrictEqual({ outcome: 'late' });
});

describe('worker threads', () => {
  it('read what the service has written, and are closed with it', async () => {
    const guard = createWriteGate(database);
    const reader = createReader(database, guard, createWorkerRunner(join(folder, 'keyfront.db')));
    const store = sqliteKeyStore(database, signer, { gate: guard, reader });
    try {
      await store.add(['a', 'b', 'c', 'd'].map((name) => aChange(withNotes(name))));
      expect(await store.count({}, now)).toBe(4);
      const { keys, isCut } = await store.list(page({ orderBy: 'ALIAS' }), createReadBudget());
      expect(isCut).toBe(false);
      expect(keys).toStrictEqual(['a', 'b', 'c', 'd'].map((name) => withNotes(name)));
      const cut = await store.list(page({ orderBy: 'ALIAS', maxBytes: 3.5 * large }), createReadBudget());
      expect(cut).toStrictEqual({ keys: keys.slice(0, 3), isCut: true });
      const one = await store.list(page({ orderBy: 'ALIAS', maxBytes: 1 }), createReadBudget());
      expect(one).toStrictEqual({ keys: keys.slice(0, 1), isCut: true });
    } finally {
      await reader.close();
    }
    await expect(store.count({}, now)).rejects.toThrow('The database is closed.');
  });

  it('reject a query when they cannot open the database, and stay in use', async () => {
    const absent = join(folder, 'absent.db');
    const runner = createWorkerRunner(absent);
    const query = { sql: 'SELECT 1 AS one', parameters: {}, untilMs: Infinity };
    try {
      await expect(runner.run(query)).rejects.toThrow('absent.db does not exist');
      openDatabase(absent).close();
      await expect(runner.run(query)).resolves.toMatchObject({ outcome: 'done', rows: [{ one: 1n }] });
    } finally {
      await runner.close();
    }
  });
});
