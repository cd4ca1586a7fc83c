import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'pg';
import { inject, onTestFinished } from 'vitest';
import { openPostgres } from '../../src/storage/postgres/engine.js';
import { until } from './until.js';

const startTimeoutMs = 180_000;

/** The URL of a PostgreSQL server for tests, or the reason why it is missing. */
export type TestPostgres = { readonly url: string } | { readonly missing: string };

/** Returns the server of the run, which starts on first use. */
export function testPostgres(): Promise<TestPostgres> {
  return startPostgres(inject('postgresFolder'));
}

/** Returns the suffix for the name of a suite whose server is missing. */
export function unlessMissing(server: TestPostgres): string {
  if (!('missing' in server)) return '';
  return ` (skipped: ${server.missing.trim().split('\n', 1)[0]} Run it with KEYFRONT_TEST_POSTGRES=/folder/of/its/programs)`;
}

/**
 * Starts a server in the folder, unless another process has started it. It ends with the process `owner`.
 *
 * @throws {Error} if the server is neither ready nor failed within three minutes, so that no suite is skipped on a slow machine
 */
export async function startPostgres(folder: string, owner = process.ppid): Promise<TestPostgres> {
  const isFirst = await mkdir(join(folder, 'started')).then(
    () => true,
    () => false,
  );
  if (isFirst) {
    const script = join(import.meta.dirname, 'postgres-server.mjs');
    spawn(process.execPath, [script, folder, String(owner)], { detached: true, stdio: 'ignore' }).unref();
  }
  const read = (name: string) => readFile(join(folder, name), 'utf8').catch(() => undefined);
  for (const end = Date.now() + startTimeoutMs; Date.now() < end;) {
    const [url, failed] = [await read('url'), await read('failed')];
    if (failed !== undefined) return { missing: `no PostgreSQL server could be started: ${failed}` };
    if (url !== undefined) return { url };
    await wait(50);
  }
  throw new Error('No PostgreSQL server has started within three minutes.');
}

export interface TestDatabase {
  /** The URL selects a separate schema, which is as isolated as a database and faster to create. */
  readonly url: string;
  /** Runs a statement, bypassing the service. */
  readonly run: <Row extends object>(statement: string) => Promise<Row[]>;
  readonly drop: () => Promise<void>;
}

/** Creates an empty schema on the server for one test. */
export async function freshDatabase(server: TestPostgres): Promise<TestDatabase> {
  if ('missing' in server) throw new Error(server.missing);
  const schema = `test_${randomBytes(8).toString('hex')}`;
  const url = new URL(server.url);
  url.searchParams.set('options', `-c search_path=${schema}`);
  // URLSearchParams encodes a space as a plus sign, which pg does not decode.
  const own = url.href.replaceAll('+', '%20');
  // To connect takes longer than most statements.
  const connections = new Pool({ connectionString: own, max: 4, allowExitOnIdle: true });
  // A test has ended a connection: the pool replaces it.
  connections.on('error', () => undefined);
  await connections.query(`CREATE SCHEMA ${schema}`);
  return {
    url: own,
    run: async <Row extends object>(statement: string) => (await connections.query<Row>(statement)).rows,
    drop: async () => {
      await connections.query(`DROP SCHEMA ${schema} CASCADE`);
      await connections.end();
    },
  };
}

/**
 * Databases that tests of this process have left with the tables of an installation, and without rows. Not after tests that
 * kill processes of their own, because the server may still run a statement of such a process.
 */
const left: TestDatabase[] = [];
const isLeft = process.env['REUSE_DATABASES'] === 'true';

/**
 * Returns a database with the tables of a new installation for one test. To make them takes longer than most tests: the
 * next test gets the same tables, unless this one has changed them.
 */
export async function installedDatabase(server: TestPostgres): Promise<TestDatabase> {
  const database = left.pop() ?? (await createInstalled(server));
  const tables = await tablesOf(database);
  const settings = await database.run<{ name: string; value: string }>('SELECT name, value FROM settings');
  return {
    ...database,
    drop: async () => {
      if (!isLeft || (await tablesOf(database)) !== tables) return database.drop();
      await database.run(emptyAll);
      for (const { name, value } of settings) await database.run(`INSERT INTO settings VALUES ('${name}', '${value}')`);
      left.push(database);
    },
  };
}

/**
 * Returns a database of its own with the tables of a new installation. VACUUM regards the open transactions of its database,
 * so that those of other tests do not disturb it. To create a database takes longer than a schema.
 */
export async function separateDatabase(server: TestPostgres): Promise<TestDatabase> {
  if ('missing' in server) throw new Error(server.missing);
  const name = `test_${randomBytes(8).toString('hex')}`;
  const administration = await freshDatabase(server);
  await administration.run(`CREATE DATABASE ${name}`);
  const url = new URL(server.url);
  url.pathname = name;
  const database = await createInstalled({ url: url.href });
  return {
    ...database,
    drop: async () => {
      await database.drop();
      await administration.run(`DROP DATABASE ${name} WITH (FORCE)`);
      await administration.drop();
    },
  };
}

async function createInstalled(server: TestPostgres): Promise<TestDatabase> {
  const database = await freshDatabase(server);
  await (await openPostgres(database.url)).close();
  return database;
}

const ownRelations = `pg_class c WHERE c.relnamespace = current_schema()::regnamespace`;

/** Describes the tables, indexes and sequences of a database: equal texts mean equal relations and columns. */
async function tablesOf({ run }: TestDatabase): Promise<string> {
  const [row] = await run<{ tables: string }>(
    `SELECT string_agg(concat_ws(' ', c.oid, c.relname, (
       SELECT string_agg(concat_ws(' ', attname, atttypid, attnotnull, attisdropped), ', ' ORDER BY attnum)
       FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0)), '; ' ORDER BY c.oid) AS tables FROM ${ownRelations}`,
  );
  return row?.tables ?? '';
}

/** Removes all rows, which is faster than TRUNCATE for a few. Identifiers begin at 1 again. */
const emptyAll = `DO $$ DECLARE relation record; BEGIN
  FOR relation IN SELECT c.oid::regclass AS name, c.relkind AS kind FROM ${ownRelations} AND c.relkind IN ('r', 'S') LOOP
    IF relation.kind = 'S' THEN PERFORM setval(relation.name, 1, false);
    ELSE EXECUTE format('DELETE FROM %s', relation.name);
    END IF;
  END LOOP;
END $$`;

/**
 * Collects statistics of the tables of a separate database, and marks their rows as visible to all, on which plans depend.
 * A connection that another test begins at that moment prevents it: tries again.
 */
export async function vacuum({ run }: TestDatabase): Promise<void> {
  const open = async () =>
    run(
      `SELECT state, now() - xact_start AS age, left(query, 200) AS query FROM pg_stat_activity
       WHERE pid <> pg_backend_pid() AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL) ORDER BY xact_start`,
    );
  await until(async () => {
    await run('VACUUM ANALYZE');
    const unmarked = await run(
      `SELECT c.relname FROM ${ownRelations} AND c.relkind = 'r' AND c.relallvisible < c.relpages`,
    );
    return unmarked.length === 0;
  }, 'Rows that are visible to all').catch(async (error: unknown) => {
    throw new Error(`${String(error)} ${JSON.stringify(await open())}`, { cause: error });
  });
}

/** Creates an empty schema on the server, and drops it after the running test. */
export async function freshOwnDatabase(server: TestPostgres): Promise<TestDatabase> {
  const database = await freshDatabase(server);
  onTestFinished(() => database.drop());
  return database;
}
