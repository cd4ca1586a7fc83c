import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChangeEvent, ChangeFeed, FeedQuery } from '../../src/keys/change-feed.js';
import { createChangeFeed } from '../../src/storage/sql/change-feed.js';
import { sqliteDialect } from '../../src/storage/sql/dialect.js';
import type { Prepared, SqlSession, Value } from '../../src/storage/sql/session.js';
import { createPgPool, inTransaction } from '../../src/storage/postgres/pool.js';
import { startOwnApp, type TestApp } from '../support/app.js';
import { describeEngines, makeOwnPlace, postgres, type EnginePlace } from '../support/engines.js';
import { temporaryFolder } from '../support/folder.js';
import { followKeyRing } from '../../src/crypto/key-ring.js';
import { createRowSigner } from '../../src/crypto/row-signer.js';
import { signer } from '../support/signer.js';
import { openOwnDatabase, postgresKeyStore, sqliteKeyStore } from '../support/storage.js';
import { until } from '../support/until.js';
import { aChange, aKey, anUpdate, aRevision, hashOf, rowIDOf } from '../support/factories.js';

/** A change as a test names it. */
const named = ({ keyHash, version }: ChangeEvent) => `${names.get(keyHash) ?? '?'} ${version}`;
const names = new Map(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => [hashOf(name), name]));
const add = ({ app }: TestApp, name: string, orgID = 'acme') =>
  app.services.store.add([aChange(aKey(name, { orgID }))]);
const change = ({ app }: TestApp, name: string) => app.services.store.update(hashOf(name), (found) => anUpdate(found));
const feedOf = ({ app }: TestApp): ChangeFeed => app.services.feed;

/** On PostgreSQL the feed ends at the oldest open transaction of the server, which other suites use too: poll for a result. */
async function readAll(feed: ChangeFeed, query: Partial<FeedQuery> = {}): Promise<string[]> {
  const all: string[] = [];
  for (let after = query.after, hasMore = true; hasMore;) {
    const page = await feed.read({ limit: 100, ...query, after });
    all.push(...page.events.map(named));
    ({ cursor: after, hasMore } = page);
  }
  return all;
}

/** Follows as a client does: by cursors, until it is stopped and has read all. */
function followAll(feed: ChangeFeed, limit: number) {
  const seen: ChangeEvent[] = [];
  let isOver = false;
  let wake: () => void = () => undefined;
  const end = feed.subscribe(() => wake());
  const done = (async () => {
    for (let after: string | undefined; ;) {
      const more = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const wasOver = isOver;
      const page = await feed.read({ after, limit });
      seen.push(...page.events);
      after = page.cursor;
      if (page.hasMore) continue;
      if (wasOver) break;
      await more;
    }
    end();
    return seen;
  })();
  return {
    seen,
    stop: () => {
      isOver = true;
      wake();
      return done;
    },
  };
}

describeEngines('the change feed', (engine) => {
  let place: EnginePlace;
  let t: TestApp;
  beforeEach(async () => {
    place = await makeOwnPlace(engine);
    t = await startOwnApp(place.env);
  });

  it('returns all changes in commit order, page after page', async () => {
    const empty = await feedOf(t).read({ after: undefined, limit: 10 });
    expect(empty).toMatchObject({ events: [], hasMore: false });
    const beginning = await feedOf(t).latestCursor();
    for (const name of ['c', 'a', 'b']) await add(t, name);
    for (const name of ['b', 'a', 'b']) await change(t, name);
    const all = ['c 1', 'a 1', 'b 1', 'b 2', 'a 2', 'b 3'];
    for (const limit of [1, 2, 3, 6, 100]) await expect.poll(() => readAll(feedOf(t), { limit })).toStrictEqual(all);
    for (const after of [empty.cursor, beginning]) expect(await readAll(feedOf(t), { after })).toStrictEqual(all);
    const { events } = await feedOf(t).read({ after: undefined, limit: 3 });
    expect(events[1]?.entry).toStrictEqual(aRevision(aKey('a')));
    await expect.poll(() => readAll(feedOf(t), { after: events[1]?.cursor })).toStrictEqual(all.slice(2));
    await expect.poll(async () => readAll(feedOf(t), { after: await feedOf(t).latestCursor() })).toStrictEqual([]);
  });

  it('returns the changes of one organization or one key, and a cursor past all scanned changes', async () => {
    await add(t, 'a');
    await add(t, 'b', 'globex');
    await change(t, 'a');
    await change(t, 'b');
    await expect.poll(() => readAll(feedOf(t), { orgID: 'acme' })).toStrictEqual(['a 1', 'a 2']);
    await expect.poll(() => readAll(feedOf(t), { orgID: 'acme', limit: 1 })).toStrictEqual(['a 1', 'a 2']);
    await expect.poll(() => readAll(feedOf(t), { keyHash: hashOf('b') })).toStrictEqual(['b 1', 'b 2']);
    await expect.poll(() => readAll(feedOf(t), { orgID: 'acme', keyHash: hashOf('b') })).toStrictEqual([]);
    const none = await feedOf(t).read({ after: undefined, orgID: 'unknown', limit: 1 });
    expect(none).toStrictEqual({ events: [], hasMore: false, cursor: await feedOf(t).latestCursor() });
    await change(t, 'b');
    await expect.poll(() => readAll(feedOf(t), { after: none.cursor })).toStrictEqual(['b 3']);
  });

  it('returns all changes in reverse, page after page, also after a restart', async () => {
    expect(await feedOf(t).readBack({ before: undefined, limit: 10 })).toMatchObject({ events: [], hasMore: false });
    await add(t, 'a');
    await add(t, 'b', 'globex');
    for (const name of ['a', 'b', 'a']) await change(t, name);
    const all = ['a 3', 'b 2', 'a 2', 'b 1', 'a 1'];
    const readBack = async (limit: number, orgID?: string) => {
      const found: string[] = [];
      for (let before: string | undefined, hasMore = true; hasMore;) {
        const page = await feedOf(t).readBack({ before, limit, orgID });
        found.push(...page.events.map(named));
        ({ cursor: before, hasMore } = page);
      }
      return found;
    };
    await until(async () => (await readBack(10)).length === all.length);
    expect([await readBack(1), await readBack(2), await readBack(5)]).toEqual([all, all, all]);
    expect(await readBack(1, 'globex')).toEqual(['b 2', 'b 1']);
    expect(await readBack(1, 'nobody')).toEqual([]);
    // Both directions have the same cursors.
    const { cursor } = await feedOf(t).readBack({ before: undefined, limit: 2 });
    expect(await readAll(feedOf(t), { after: cursor })).toEqual(['a 3']);
    await t.close();
    t = await startOwnApp(place.env);
    const older = await feedOf(t).readBack({ before: cursor, limit: 10 });
    expect([older.events.map(named), older.hasMore]).toEqual([all.slice(2), false]);
    await expect(feedOf(t).readBack({ before: 'x', limit: 1 })).rejects.toMatchObject({ code: 'INVALID' });
  });

  it('scans at most a thousand changes per read, and continues from there', async () => {
    const many = Array.from({ length: 1_200 }, (_, index) => aChange(aKey(`other ${index}`, { orgID: 'globex' })));
    for (let from = 0; from < many.length; from += 300) await t.app.services.store.add(many.slice(from, from + 300));
    await add(t, 'a');
    const read = () => feedOf(t).read({ after: undefined, orgID: 'acme', limit: 10 });
    await expect.poll(read).toMatchObject({ events: [], hasMore: true });
    const first = await read();
    await expect.poll(() => readAll(feedOf(t), { after: first.cursor, orgID: 'acme' })).toStrictEqual(['a 1']);
  });

  it('continues from a cursor after a restart', async () => {
    await add(t, 'a');
    await expect.poll(() => readAll(feedOf(t))).toStrictEqual(['a 1']);
    const cursor = await feedOf(t).latestCursor();
    await change(t, 'a');
    await t.close();
    t = await startOwnApp(place.env);
    await change(t, 'a');
    await expect.poll(() => readAll(feedOf(t), { after: cursor })).toStrictEqual(['a 2', 'a 3']);
  });

  it('rejects an invalid cursor and one of another database', async () => {
    await add(t, 'a');
    const encoded = (text: string) => Buffer.from(text, 'latin1').toString('base64url');
    const bad = [
      ...['', 'x', '💥'],
      ...['1.2', '-1.2.', 'a.1.', '0.b.', ' 0.1.', '0.1.zzzzzzzz', '0.1.00000000 ', '0.1.0000000'].map(encoded),
      ...['0.99999999999999999999.', '0.9999999999999999999.', '9999999999999999999.1.'].map(encoded),
      encoded('x'.repeat(5_000)),
    ];
    const foreign = [encoded('0.1.00000000'), encoded('9000000000000000000.1.')];
    for (const after of bad) {
      await expect(feedOf(t).read({ after, limit: 1 }), after).rejects.toMatchObject({
        code: 'INVALID',
        message: 'The cursor is not a cursor of the change feed.',
        issues: [{ path: ['after'], code: 'MALFORMED_ARGUMENT', message: 'must be a cursor of a change' }],
      });
    }
    for (const after of foreign) {
      await expect(feedOf(t).read({ after, limit: 1 })).rejects.toMatchObject({
        code: 'INVALID',
        message: expect.stringContaining('another database') as string,
        issues: [{ path: ['after'], code: 'MALFORMED_ARGUMENT', message: 'must be a cursor of this database' }],
      });
    }
  });

  it('returns a change whose history entry fails its integrity check without the entry, and all other changes', async () => {
    await add(t, 'a');
    for (let count = 0; count < 2; count += 1) await change(t, 'a');
    await place.tamper(`UPDATE history SET reason = 'forged' WHERE version = 2`);
    await expect.poll(() => readAll(feedOf(t))).toHaveLength(3);
    const { events } = await feedOf(t).read({ after: undefined, limit: 10 });
    expect(events.map(({ version, entry }) => [version, entry?.versionAfter])).toStrictEqual([
      [1, 1],
      [2, undefined],
      [3, 3],
    ]);
    await expect.poll(() => readAll(feedOf(t), { after: events[1]?.cursor })).toStrictEqual(['a 3']);
  });

  it('returns no change of a purged key, and continues from a cursor among its changes', async () => {
    const { store } = t.app.services;
    await add(t, 'a');
    await add(t, 'b');
    await change(t, 'a');
    await expect.poll(() => readAll(feedOf(t))).toStrictEqual(['a 1', 'b 1', 'a 2']);
    const among = await feedOf(t).latestCursor();
    await store.update(hashOf('a'), (found) => anUpdate(found, { deleted: new Date(0) }));
    await change(t, 'b');
    expect(await store.purge(new Date(1))).toBe(1);
    // The notice of the purge is behind them.
    await expect.poll(() => readAll(feedOf(t))).toStrictEqual(['b 1', 'b 2', 'a 0']);
    await expect.poll(() => readAll(feedOf(t), { after: among })).toStrictEqual(['b 2', 'a 0']);
  });

  it('notifies of changes by this process and by another, until the subscription ends', async () => {
    const other = await startOwnApp(place.env);
    let calls = 0;
    const end = feedOf(t).subscribe(() => (calls += 1));
    await until(() => calls > 0);
    calls = 0;
    await add(t, 'a');
    await until(() => calls > 0);
    calls = 0;
    await change(other, 'a');
    await until(() => calls > 0);
    end();
    calls = 0;
    let later = 0;
    const endLater = feedOf(t).subscribe(() => (later += 1));
    await until(() => later > 0);
    later = 0;
    await change(other, 'a');
    await until(() => later > 0);
    endLater();
    expect(calls).toBe(0);
  });

  it('misses and repeats no change while two processes write', async () => {
    const other = await startOwnApp(place.env);
    const keys = ['a', 'b', 'c'];
    for (const name of keys) await add(t, name);
    const following = followAll(feedOf(t), 7);
    let acknowledged = 0;
    const write = async (writer: TestApp, name: string) => {
      for (let count = 0; count < 25; count += 1) {
        await change(writer, name).then(
          () => (acknowledged += 1),
          () => undefined,
        );
      }
    };
    await Promise.all([t, other].flatMap((writer) => [...keys, ...keys].map((name) => write(writer, name))));
    const versions = await Promise.all(
      keys.map(async (name) => (await t.app.services.store.find(hashOf(name)))?.version ?? 0),
    );
    expect(versions.reduce((sum, version) => sum + version - 1, 0)).toBe(acknowledged);
    const total = versions.reduce((sum, version) => sum + version, 0);
    await until(() => following.seen.length >= total, 'The end of the feed');
    const seen = (await following.stop()).map(named);
    for (const [index, name] of keys.entries()) {
      const wanted = Array.from({ length: versions[index] ?? 0 }, (_, version) => `${name} ${version + 1}`);
      expect(seen.filter((text) => text.startsWith(name))).toStrictEqual(wanted);
    }
    await expect.poll(() => readAll(feedOf(t))).toStrictEqual(seen);
  });
});

describe('the change feed on a SQLite file that was replaced by a backup', () => {
  it('rejects a cursor of the time that was undone', async () => {
    const folder = await temporaryFolder();
    const env = (name: string) => ({ KEYFRONT_DATA: join(folder, name) });
    const t = await startOwnApp(env('first'));
    await add(t, 'a');
    const before = await feedOf(t).latestCursor();
    const { services: installation } = t.app;
    await cp(join(folder, 'first'), join(folder, 'second'), {
      recursive: true,
      filter: (path) => !path.includes('.db'),
    });
    await installation.copyTo(join(folder, 'second', 'keyfront.db'), () => undefined);
    await change(t, 'a');
    const undone = await feedOf(t).latestCursor();
    await t.close();

    const restored = await startOwnApp(env('second'));
    await expect(feedOf(restored).read({ after: undone, limit: 1 })).rejects.toMatchObject({ code: 'INVALID' });
    await restored.app.services.store.update(hashOf('a'), (found) => {
      const next = anUpdate(found);
      return { ...next, revision: { ...next.revision, reason: 'another' } };
    });
    await expect(feedOf(restored).read({ after: undone, limit: 1 })).rejects.toMatchObject({ code: 'INVALID' });
    await expect.poll(() => readAll(feedOf(restored), { after: before })).toStrictEqual(['a 2']);
  });
});

describe.skipIf(postgres.isMissing)(
  `the change feed on ${postgres.name}, whose identifiers are not in commit order`,
  () => {
    let place: EnginePlace;
    let t: TestApp;
    let client: Client;
    beforeEach(async () => {
      place = await makeOwnPlace(postgres);
      t = await startOwnApp(place.env);
      client = new Client({ connectionString: place.database?.url ?? '' });
      await client.connect();
    });
    afterEach(async () => {
      await client.end();
    });

    it('waits for a transaction that has an identifier and commits after others', async () => {
      for (const name of ['a', 'b']) await add(t, name);
      await expect.poll(() => readAll(feedOf(t))).toStrictEqual(['a 1', 'b 1']);
      const cursor = await feedOf(t).latestCursor();
      // A change of ours, taken away and written again by a transaction that takes long.
      await change(t, 'a');
      await client.query(
        `CREATE TEMPORARY TABLE late AS SELECT * FROM history WHERE key = ${rowIDOf(hashOf('a'))} AND version = 2`,
      );
      await client.query(`DELETE FROM history WHERE key = ${rowIDOf(hashOf('a'))} AND version = 2`);
      await client.query('BEGIN');
      await client.query(
        `UPDATE late SET id = nextval(pg_get_serial_sequence('history', 'id')), tx = pg_current_xact_id()::text::bigint`,
      );
      await client.query('INSERT INTO history OVERRIDING SYSTEM VALUE SELECT * FROM late');

      const following = followAll(feedOf(t), 1);
      await change(t, 'b');
      await until(() => following.seen.length === 2);
      await expect.poll(() => readAll(feedOf(t), { after: cursor })).toStrictEqual([]);
      expect(following.seen.map(named)).toStrictEqual(['a 1', 'b 1']);
      await client.query('COMMIT');
      await until(() => following.seen.length === 4);
      expect((await following.stop()).map(named)).toStrictEqual(['a 1', 'b 1', 'a 2', 'b 2']);
      await expect.poll(() => readAll(feedOf(t), { after: cursor })).toStrictEqual(['a 2', 'b 2']);
    });

    it('returns the changes of a key in order when the later one has the earlier transaction', async () => {
      await add(t, 'a');
      const connections = createPgPool(place.database?.url ?? '', 'a test');
      const authenticity = createRowSigner(followKeyRing(join(place.folder, 'key-ring.json')));
      await connections.run((session) =>
        inTransaction(session, async () => {
          await session.query('SELECT pg_current_xact_id()');
          await change(t, 'a');
          const within = { run: <T>(work: (own: typeof session) => Promise<T>) => work(session) };
          const store = postgresKeyStore({ ...within, close: connections.close }, authenticity);
          await store.update(hashOf('a'), (found) => anUpdate(found));
          await store.update(hashOf('a'), (found) => anUpdate(found));
        }),
      );
      await connections.close();
      await expect.poll(() => readAll(feedOf(t), { limit: 1 })).toStrictEqual(['a 1', 'a 2', 'a 3', 'a 4']);
    });

    it('continues after a dump was restored into a server with lower transaction identifiers', async () => {
      for (const name of ['a', 'b']) await add(t, name);
      // As a busier server would have written it.
      await client.query('UPDATE history SET tx = tx + 1000000000');
      const { rows } = await client.query<{ cursor: string }>(
        `SELECT tx || '.' || id || '.' AS cursor FROM history WHERE key = ${rowIDOf(hashOf('a'))}`,
      );
      const cursor = Buffer.from(rows[0]?.cursor ?? '').toString('base64url');
      await t.close();
      t = await startOwnApp(place.env);
      await change(t, 'a');
      await expect.poll(() => readAll(feedOf(t), { after: cursor })).toStrictEqual(['b 1', 'a 2']);
      await t.close();
      t = await startOwnApp(place.env);
      await change(t, 'b');
      await expect.poll(() => readAll(feedOf(t), { after: cursor })).toStrictEqual(['b 1', 'a 2', 'b 2']);
      await expect.poll(() => readAll(feedOf(t))).toStrictEqual(['a 1', 'b 1', 'a 2', 'b 2']);
    });

    it('notifies at once, and soon again after its connection was closed', async () => {
      const other = await startOwnApp(place.env);
      await add(t, 'a');
      const following = followAll(feedOf(t), 10);
      const listening = `SELECT pid FROM pg_stat_activity WHERE application_name = 'keyfront changes'
      AND query LIKE 'LISTEN %' || md5(current_schema()) || '%'`;
      const listeners = async () => (await client.query<{ pid: number }>(listening)).rows.map(({ pid }) => pid);
      await expect.poll(listeners).toHaveLength(1);
      const [pid] = await listeners();
      await client.query('SELECT pg_terminate_backend($1)', [pid]);
      await change(other, 'a');
      await until(() => following.seen.length === 2);
      await expect.poll(listeners).toHaveLength(1);
      await change(other, 'a');
      await until(() => following.seen.length === 3);
      await following.stop();
      await expect.poll(listeners).toHaveLength(0);
    });
  },
);

it('reads large changes up to 256 KiB together, and at least one', async () => {
  const read: bigint[][] = [];
  const sizes = [300_000n, 100_000n, 100_000n, 100_000n];
  const scanned = sizes.map((size, n) => ({ tx: 0n, id: BigInt(n + 1), key_hash: 'k', org_id: 'acme', size }));
  const all = (_: Prepared, values: readonly Value[] = []): Promise<readonly object[]> => {
    const [first, id] = values;
    if (!Array.isArray(first)) {
      return Promise.resolve([{ is_beyond: 0n, tx: null }, ...scanned.filter((row) => row.id > Number(id))]);
    }
    read.push([...(first as bigint[])]);
    return Promise.resolve([]);
  };
  const unused = () => Promise.reject(new Error('The feed only reads.'));
  const session = { dialect: sqliteDialect, all, run: unused, transaction: unused, snapshot: unused } as SqlSession;
  const notifier = { follow: () => () => undefined, hint: () => undefined, stop: () => undefined };
  const feed = createChangeFeed(session, signer, notifier);
  await readAll(feed);
  expect(read).toEqual([[1n], [2n, 3n], [4n]]);
});

it('is notified of changes and imports after their commits, and not of updates that write nothing', async () => {
  const database = openOwnDatabase();
  const entries = database.prepare<[], bigint>('SELECT count(*) FROM history').pluck();
  const notified: unknown[] = [];
  const onChange = () => void notified.push([database.inTransaction, entries.get()]);
  const store = sqliteKeyStore(database, signer, { onChange });
  await store.add([aChange(aKey('a'))]);
  await store.update(hashOf('a'), (found) => anUpdate(found));
  await store.update(hashOf('a'), () => undefined);
  const rejected = store.update(hashOf('a'), () => {
    throw new Error('rejected');
  });
  await expect(rejected).rejects.toThrow('rejected');
  expect(notified).toStrictEqual([
    [false, 1n],
    [false, 2n],
  ]);
});
