import { inspect } from 'node:util';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/config/config.js';
import type { KeyStore } from '../../src/keys/ports.js';
import type { Prepared } from '../../src/storage/sql/session.js';
import { createPgPool, inSnapshot, inTransaction, type PgPool, type Session } from '../../src/storage/postgres/pool.js';
import { openPostgres } from '../../src/storage/postgres/engine.js';
import { migrate, versionOf } from '../../src/storage/postgres/migrate.js';
import { migrations, schemaVersion, versionAfter } from '../../src/storage/sql/schema.js';
import { startApp, startOwnApp, type TestApp } from '../support/app.js';
import { makeOwnCommandLine, type CommandLine } from '../support/cli.js';
import { postgres } from '../support/engines.js';
import { freshOwnDatabase, testPostgres, type TestDatabase } from '../support/postgres.js';
import { createProxy, type Proxy } from '../support/proxy.js';
import { sendRequest } from '../support/responses.js';
import { signer } from '../support/signer.js';
import { postgresKeyStore, storageDeps } from '../support/storage.js';
import { until } from '../support/until.js';
import { aChange, aKey, anUpdate, aRevision, hashOf, rowIDOf } from '../support/factories.js';

const server = await testPostgres();
const maxInt64 = 9223372036854775807n;

describe.skipIf(postgres.isMissing)(`D-16 ${postgres.name}`, () => {
  let database: TestDatabase;
  let name: string;
  let connections: PgPool;
  let statements: string[];
  let store: KeyStore;
  beforeEach(async () => {
    database = await freshOwnDatabase(server);
    await (await openPostgres(database.url)).close();
    name = `keyfront-test-${Math.random().toString(36).slice(2)}`;
    statements = [];
    connections = createPgPool(database.url, name);
    const { run } = connections;
    const listening: PgPool = {
      ...connections,
      run: (work) =>
        run((session) =>
          work({
            query: (statement, parameters) => session.query(statement, parameters),
            write: (statement, parameters) => {
              statements.push(typeof statement === 'string' ? statement : statement.text);
              return session.write(statement, parameters);
            },
          }),
        ),
    };
    store = postgresKeyStore(listening, signer);
  });
  afterEach(() => connections.close());

  /** A transaction of another client, which holds its locks until it is ended. */
  async function holding(statement: string): Promise<() => Promise<void>> {
    const client = new Client({ connectionString: database.url });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('BEGIN');
    await client.query(statement);
    return () => client.end();
  }

  /** Ends the connections of the store that wait for a lock, as soon as one does. */
  async function terminateWaiting(): Promise<void> {
    const terminated = () =>
      database.run(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = '${name}' AND wait_event_type = 'Lock'`,
      );
    await until(async () => (await terminated()).length > 0);
  }
  const waitingConnections = async () => {
    const waiting = `application_name = '${name}' AND wait_event_type = 'Lock'`;
    return (await database.run(`SELECT FROM pg_stat_activity WHERE ${waiting}`)).length;
  };
  const connectionCount = async () =>
    (await database.run(`SELECT FROM pg_stat_activity WHERE application_name = '${name}'`)).length;
  const terminateAll = () =>
    database.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${name}'`);

  it('D-16 requests READ COMMITTED and durable commits when its role is set to others', async () => {
    const role = name.replaceAll('-', '_');
    await database.run(`CREATE ROLE ${role} LOGIN PASSWORD 'test'`);
    await database.run(`ALTER ROLE ${role} SET default_transaction_isolation = 'repeatable read'`);
    await database.run(`ALTER ROLE ${role} SET synchronous_commit = 'off'`);
    const url = new URL(database.url);
    url.username = role;
    url.password = 'test';
    const own = createPgPool(url.href, name);
    const settings = (session: Session) =>
      session.query(`SELECT current_setting('transaction_isolation') AS isolation,
        current_setting('synchronous_commit') AS commit, current_user = '${role}' AS "isRole"`);
    const wanted = [{ isolation: 'read committed', commit: 'on', isRole: true }];
    try {
      expect(await own.run(settings)).toStrictEqual(wanted);
      expect(await own.run((session) => inTransaction(session, () => settings(session)))).toStrictEqual(wanted);
    } finally {
      await own.close();
      await database.run(`DROP ROLE ${role}`);
    }
  });

  it('writes an update with all its rows in one statement, and many at once in few', async () => {
    await store.add(Array.from({ length: 60 }, (_, index) => aChange(aKey(index))));
    statements.length = 0;
    const tagged = { definition: { tags: ['a', 'b'], applyPolicies: ['p'] } };
    await store.update(hashOf(1), (found) => anUpdate(found, tagged));
    // The names of new terms are added before.
    expect(statements).toHaveLength(2);
    statements.length = 0;
    await store.update(hashOf(0), (found) => anUpdate(found, tagged));
    expect(statements).toHaveLength(1);
    await Promise.all(
      Array.from({ length: 120 }, (_, index) =>
        store.update(hashOf(index % 60), (found) => anUpdate(found, { definition: { alias: `${index}` } })),
      ),
    );
    expect(statements.length).toBeLessThan(12);
    expect((await store.find(hashOf(0)))?.version).toBe(4);
    expect((await store.historyOf(hashOf(0))).map(({ versionAfter }) => versionAfter)).toStrictEqual([1, 2, 3, 4]);
  });

  it('rejects one of many updates alone, for an error of its change or of the database', async () => {
    await store.add(Array.from({ length: 5 }, (_, index) => aChange(aKey(index))));
    const outcomes = await Promise.allSettled([
      ...[0, 1, 2].map((index) => store.update(hashOf(index), (found) => anUpdate(found))),
      store.update(hashOf(1), () => {
        throw new Error('not this one');
      }),
      store.update(hashOf(3), (found) => {
        const { next } = anUpdate(found);
        return { next, revision: aRevision(next, { quotaUsedBeforeReset: maxInt64 + 1n }) };
      }),
      store.update(hashOf(3), (found) => anUpdate(found, { definition: { alias: 'good' } })),
      store.consume(hashOf(4), () => ({ next: { used: 7n, renews: undefined }, result: 'taken' })),
    ]);
    expect(outcomes.map(({ status }) => status)).toStrictEqual([
      ...['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected', 'fulfilled', 'fulfilled'],
    ]);
    expect(outcomes[4]).toMatchObject({ reason: { code: 'INTERNAL' } });
    const versions = await Promise.all(
      [0, 1, 2, 3, 4].map(async (index) => (await store.find(hashOf(index)))?.version),
    );
    expect(versions).toStrictEqual([2, 2, 2, 2, 1]);
    expect((await store.find(hashOf(3)))?.definition.alias).toBe('good');
    expect((await store.find(hashOf(4)))?.quota.used).toBe(7n);
  });

  it('keeps the order of the changes of a key when the database rejects some of them', async () => {
    await store.add(['a', 'b'].map((name) => aChange(aKey(name))));
    const request = (key: string, name: string) =>
      store.update(hashOf(key), (found) => {
        const change = anUpdate(found, { definition: { alias: `${found?.definition.alias ?? ''}${name}` } });
        const { next } = change;
        return name === '!' ? { next, revision: aRevision(next, { quotaUsedBeforeReset: maxInt64 + 1n }) } : change;
      });
    // Requested while later changes of the same key are not written yet.
    const followedBy = async (key: string, first: string, next: string) => {
      await request(key, first).catch(() => undefined);
      return request(key, next);
    };
    const outcomes = await Promise.allSettled([
      followedBy('a', '1', '5'),
      request('b', '1'),
      request('a', '!'),
      followedBy('b', '!', '4'),
      request('a', '3'),
      request('a', '4'),
      request('b', '3'),
    ]);
    const aliases = await Promise.all(['a', 'b'].map(async (key) => (await store.find(hashOf(key)))?.definition.alias));
    expect(aliases).toEqual(['1345', '134']);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  });

  it('D-16 repeats work after a conflict with another transaction, at most three times', async () => {
    const conflict = `DO $$ BEGIN RAISE EXCEPTION 'in the way' USING ERRCODE = '40001'; END $$`;
    const attempts = async (failures: number) => {
      let count = 0;
      const response = await connections
        .run(async (session) => {
          count += 1;
          if (count <= failures) await session.write(conflict);
          return 'done';
        })
        .catch((error: unknown) => error);
      return { count, response };
    };
    expect(await attempts(0)).toStrictEqual({ count: 1, response: 'done' });
    expect(await attempts(3)).toStrictEqual({ count: 4, response: 'done' });
    const exhausted = await attempts(99);
    expect(exhausted.count).toBe(4);
    expect(exhausted.response).toMatchObject({
      code: 'UNAVAILABLE',
      message: 'Storage is busy; nothing was written.',
      retryAfterSeconds: 1,
    });
  });

  it('completes both of two transactions that wait for each other', async () => {
    await store.add([1, 2].map((index) => aChange(aKey(index))));
    let arrived = 0;
    const locked = (hashes: string[]) =>
      connections.run((session) =>
        inTransaction(session, async () => {
          for (const hash of hashes) {
            await session.query('SELECT FROM keys WHERE id = $1 FOR UPDATE', [rowIDOf(hash)]);
            arrived += 1;
            // Each waits until the other has its first lock.
            await until(() => arrived >= 2, 'A lock of each');
          }
          return 'done';
        }),
      );
    const both = [hashOf(1), hashOf(2)];
    expect(await Promise.all([locked(both), locked(both.toReversed())])).toStrictEqual(['done', 'done']);
  });

  it('D-16 reconnects when idle connections were ended', async () => {
    await store.add([aChange(aKey(1))]);
    await Promise.all(Array.from({ length: 8 }, () => store.find(hashOf(1))));
    expect((await terminateAll()).length).toBeGreaterThan(1);
    expect((await store.update(hashOf(1), (found) => anUpdate(found)))?.next.version).toBe(2);
    await terminateAll();
    expect((await store.find(hashOf(1)))?.version).toBe(2);
  });

  it('D-16 retries an update on each idle connection that was ended, then on a new one', async () => {
    await store.add([aChange(aKey(1))]);
    await Promise.all(Array.from({ length: 8 }, () => store.find(hashOf(1))));
    const idle = await connectionCount();
    expect(idle).toBeGreaterThan(4);
    const release = await holding('LOCK TABLE keys IN ACCESS EXCLUSIVE MODE');
    const attempt = store.update(hashOf(1), (found) => anUpdate(found));
    for (let ended = 0; ended < idle; ended += 1) await terminateWaiting();
    await release();
    expect((await attempt)?.next.version).toBe(2);
    expect(await store.historyOf(hashOf(1))).toHaveLength(2);
  });

  it('D-16 reports an update as undecided when the connection is lost before its response', async () => {
    await store.add([aChange(aKey(1))]);
    const release = await holding(`SELECT FROM keys WHERE id = ${rowIDOf(hashOf(1))} FOR UPDATE`);
    const attempt = store.update(hashOf(1), (found) => anUpdate(found)).catch((error: unknown) => error);
    await terminateWaiting();
    expect(await attempt).toMatchObject({
      code: 'UNAVAILABLE',
      message: 'Storage failed, and it is not known whether this was written: read before you try again.',
      retryAfterSeconds: undefined,
    });
    await release();
    expect((await store.find(hashOf(1)))?.version).toBe(1);
    expect((await store.update(hashOf(1), (found) => anUpdate(found)))?.next.version).toBe(2);
  });

  it('repeats reads in a snapshot when their connection is lost before its end', async () => {
    let runs = 0;
    const read = connections.run((session) =>
      inSnapshot(session, async () => {
        runs += 1;
        if (runs === 1) await terminateAll();
        await until(async () => runs > 1 || (await connectionCount()) === 0);
        return 'read';
      }),
    );
    expect([await read, runs]).toStrictEqual(['read', 2]);
  });

  it('rejects a change, with nothing written, when another client holds the row for too long', async () => {
    await store.add([aChange(aKey(1))]);
    const release = await holding(`SELECT FROM keys WHERE id = ${rowIDOf(hashOf(1))} FOR UPDATE`);
    await expect(store.update(hashOf(1), (found) => anUpdate(found))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'Storage is busy; nothing was written.',
      retryAfterSeconds: 1,
    });
    await release();
    expect((await store.find(hashOf(1)))?.version).toBe(1);
  });

  it('keeps nothing of an update whose key is purged between its read and its write', async () => {
    await store.add([aChange(aKey(1))]);
    const other = new Client({ connectionString: database.url });
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT FROM keys FOR UPDATE');
    const attempt = store
      .update(hashOf(1), (found) => anUpdate(found, { definition: { tags: ['t'] } }))
      .catch((error: unknown) => error);
    await until(async () => (await waitingConnections()) > 0);
    for (const table of ['keys', 'history', 'key_terms']) await other.query(`DELETE FROM ${table}`);
    await other.query('COMMIT');
    await other.end();
    expect(await attempt).toMatchObject({ message: 'There is no such key.' });
    for (const table of ['keys', 'history', 'key_terms']) {
      expect(await database.run(`SELECT * FROM ${table}`)).toStrictEqual([]);
    }
  });

  it('repeats a consumption whose key another process changes between its read and its write', async () => {
    await store.add([aChange(aKey(1))]);
    const consume = (counters: KeyStore, amount: bigint) =>
      counters.consume(hashOf(1), (found) => ({
        next: { used: (found?.quota.used ?? 0n) + amount, renews: undefined },
        result: 'counted',
      }));
    let attempt: Promise<unknown> | undefined;
    await connections.run((session) =>
      inTransaction(session, async () => {
        const within = { run: <T>(work: (own: typeof session) => Promise<T>) => work(session) };
        await consume(postgresKeyStore({ ...within, close: connections.close }, signer), 1n);
        attempt = consume(store, 1_000n);
        await until(async () => (await waitingConnections()) > 0, 'The lock of the row');
      }),
    );
    await attempt;
    expect((await store.find(hashOf(1)))?.quota.used).toBe(1_001n);
  });

  it('is migrated once by several processes that start together', async () => {
    const empty = await freshOwnDatabase(server);
    const opened = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const one = await openPostgres(empty.url);
        await one.start(signer, storageDeps());
        return one;
      }),
    );
    expect(await empty.run(`SELECT value FROM settings WHERE name = 'schema_version'`)).toStrictEqual([
      { value: String(schemaVersion) },
    ]);
    for (const one of opened) await one.close();
  });

  it('of an unreleased build is rejected with the way to its keys', async () => {
    await database.run(`UPDATE settings SET value = '4' WHERE name = 'schema_version'`);
    await expect(openPostgres(database.url)).rejects.toThrow(
      /^The database postgres on .* cannot be used: it has schema version 4: another version of Keyfront.*`keyfront keys export --with-secrets > keys.jsonl`/,
    );
  });

  it('of the layout before gets a new index, once, with its rows', async () => {
    await store.add([aChange(aKey(1))]);
    const steps = [...migrations.map(({ postgres }) => postgres), 'CREATE INDEX keys_by_version ON keys (version)'];
    for (let start = 0; start < 2; start += 1) await connections.run((session) => migrate(session, steps));
    expect(await database.run(`SELECT indexname FROM pg_indexes WHERE indexname = 'keys_by_version'`)).toHaveLength(1);
    expect(await database.run(`SELECT value FROM settings WHERE name = 'schema_version'`)).toStrictEqual([
      { value: String(versionAfter(steps.length)) },
    ]);
    expect(await store.find(hashOf(1))).toBeDefined();
    await expect(openPostgres(database.url)).rejects.toThrow('use a newer Keyfront');
  });

  it('is rejected and left unchanged if it has a newer version or tables of another program', async () => {
    await database.run(`UPDATE settings SET value = '199' WHERE name = 'schema_version'`);
    await expect(openPostgres(database.url)).rejects.toThrow(
      /^The database postgres on .* cannot be used: it has schema version 199, .* use a newer Keyfront$/,
    );
    const foreign = await freshOwnDatabase(server);
    await foreign.run('CREATE TABLE keys (id int)');
    await expect(openPostgres(foreign.url)).rejects.toThrow(/it has a table keys that is not Keyfront's/);
    expect(await foreign.run('SELECT * FROM keys')).toStrictEqual([]);
  });

  it('rejects a database whose table settings is of another program, and names the table', async () => {
    const tables = ['CREATE TABLE settings (id int)', 'CREATE TABLE settings (name int, value text)'];
    for (const statement of [...tables, 'CREATE TABLE settings (name text, value text)']) {
      const foreign = await freshOwnDatabase(server);
      await foreign.run(statement);
      await expect(openPostgres(foreign.url)).rejects.toThrow(/it has a table settings that is not Keyfront's/);
    }
  });

  it('reports a connection that is lost while the schema version is read as that', async () => {
    const lost = new Error('Connection terminated unexpectedly');
    const session = (error: Error): Session => ({
      query: <Row>(statement: Prepared | string) =>
        typeof statement === 'string' && statement.includes('to_regclass')
          ? Promise.resolve([{ settings: 'settings', taken: null }] as Row[])
          : Promise.reject(error),
      write: () => Promise.reject(error),
    });
    await expect(versionOf(session(lost))).rejects.toBe(lost);
  });
});

describe.skipIf(postgres.isMissing)(`D-16 a service on ${postgres.name}`, () => {
  const password = 'Xq7-database-password';
  let database: TestDatabase;
  let proxy: Proxy;
  let t: TestApp;
  let c: CommandLine;
  let env: Record<string, string>;
  beforeEach(async () => {
    database = await freshOwnDatabase(server);
    const url = new URL(database.url);
    url.password ||= password;
    proxy = await createProxy(url.href);
    onTestFinished(() => proxy.close());
    c = await makeOwnCommandLine();
    env = { KEYFRONT_DATA: c.folder, KEYFRONT_DATABASE_URL: proxy.url };
    t = await startOwnApp(env);
    await t.importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 10 });
  });
  afterEach(() => proxy.restore());

  const read = () => sendRequest(t, 'GET', '/svc/org/keys/k1');

  it('returns 503 with Retry-After while the server is unreachable, is not ready, and recovers by itself', async () => {
    expect((await t.send('/ready')).status).toBe(200);
    proxy.cut();
    for (const response of [await t.update('k1', { alias: 'lost' }), await read(), await t.preview({})]) {
      expect(response).toMatchObject({
        status: 503,
        body: { code: 'UNAVAILABLE', message: 'Storage cannot be reached; nothing was written.' },
      });
      expect(response.headers.get('retry-after')).toBe('2');
    }
    const isReady = async () => (await t.send('/ready')).status === 200;
    await until(async () => !(await isReady()), '503 of /ready');
    expect((await t.send('/health')).status).toBe(200);
    proxy.restore();
    await until(isReady, '200 of /ready');
    expect((await t.update('k1', { alias: 'found' })).status).toBe(200);
    expect(t.logs()).not.toContain(password);
  });

  it('D-16 returns 503 with Retry-After when all of its connections are in use, and recovers', async () => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query('BEGIN');
    await client.query('LOCK TABLE keys IN ACCESS EXCLUSIVE MODE');
    const responses = await Promise.all(Array.from({ length: 40 }, () => read()));
    for (const { status, headers } of responses) expect([status, headers.get('retry-after')]).toStrictEqual([503, '1']);
    await client.end();
    expect((await read()).status).toBe(200);
  });

  it('rejects another key ring, or none, with nothing overwritten', async () => {
    const other = await makeOwnCommandLine();
    await expect(startApp({ ...env, KEYFRONT_DATA: other.folder })).rejects.toThrow(
      /key-ring\.json does not exist, and the database postgres on .* needs the one it was written with/,
    );
    await (await startApp({ KEYFRONT_DATA: other.folder })).close();
    await expect(startApp({ ...env, KEYFRONT_DATA: other.folder })).rejects.toThrow(
      /is not the one that the database postgres on .* was written with/,
    );
    expect((await read()).status).toBe(200);
  });

  it('shows its password in no setting, error or log line', async () => {
    const { config, secrets } = readConfig(env);
    expect(inspect({ config, secrets }, { depth: 9 }) + JSON.stringify({ config, secrets })).not.toContain(password);
    proxy.cut();
    const { stderr } = await c.keyfront(['check'], env);
    expect(stderr).toMatch(/^The database postgres on 127\.0\.0\.1:\d+ cannot be used: /);
    await read();
    expect(stderr + t.logs()).not.toContain(password);
  });
});
