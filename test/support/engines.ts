import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/storage/sqlite/connection.js';
import { redisSettings, testRedis, unlessMissing as unlessNoRedis } from './redis.js';
import { tamper } from './tamper.js';
import {
  freshDatabase,
  installedDatabase,
  separateDatabase,
  testPostgres,
  unlessMissing,
  type TestDatabase,
} from './postgres.js';

/** A database and a data folder, for any number of services. */
export interface EnginePlace {
  /** The settings of a service on it. */
  readonly env: Record<string, string>;
  /** The folder of the key ring, and of the database if it is a file. */
  readonly folder: string;
  readonly database: TestDatabase | undefined;
  /** Runs statements on its tables, bypassing the service. */
  readonly run: (...statements: readonly string[]) => Promise<void>;
  /** Reads rows, bypassing the service. 64-bit integers are bigints in SQLite, and text in PostgreSQL. */
  readonly rows: <Row extends object>(query: string) => Promise<Row[]>;
  /** Changes its tables, without the constraints of signed rows. */
  readonly tamper: (...statements: readonly string[]) => Promise<void>;
  /** Returns the SQL literal of bytes. */
  readonly bytes: (hex: string) => string;
  /** Returns the columns of a table that can be written, as SQL. */
  readonly columns: (table: string) => Promise<string>;
  readonly remove: () => Promise<void>;
}

export interface TestEngine {
  /** If the engine is not available, contains the reason, and how to run the suite. */
  readonly name: string;
  readonly isMissing: boolean;
  /** Makes a place with the tables of a new installation, unless it has to be empty. */
  readonly make: (options?: PlaceOptions) => Promise<EnginePlace>;
}

export interface PlaceOptions {
  readonly isEmpty?: boolean;
  /** On a server, it is a database and not a schema: see `separateDatabase`. */
  readonly isSeparate?: boolean;
}

const server = await testPostgres();
const redis = testRedis();

async function place(database: TestDatabase | undefined, isEmpty = false): Promise<EnginePlace> {
  const folder = await mkdtemp(join(tmpdir(), 'keyfront-engine-'));
  const file = join(folder, 'keyfront.db');
  if (database === undefined && !isEmpty)
    await writeFile(file, await (installed ??= makeInstalledFile()), { mode: 0o600 });
  return {
    env: { KEYFRONT_DATA: folder, ...(database && { KEYFRONT_DATABASE_URL: database.url }) },
    folder,
    database,
    ...(database ? onServer(database) : onFile(file)),
    remove: async () => {
      await rm(folder, { recursive: true, force: true });
      await database?.drop();
    },
  };
}

/** A file with the tables of a new installation. To make them takes longer than many tests. */
let installed: Promise<Buffer> | undefined;

async function makeInstalledFile(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'keyfront-engine-'));
  const file = join(folder, 'keyfront.db');
  openDatabase(file).close();
  const bytes = await readFile(file);
  await rm(folder, { recursive: true });
  return bytes;
}

type Tables = Pick<EnginePlace, 'run' | 'rows' | 'tamper' | 'bytes' | 'columns'>;

function onFile(file: string): Tables {
  const withFile = async <T>(work: (database: Database.Database) => T): Promise<T> => {
    const database = new Database(file);
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  return {
    run: (...statements) => withFile((database) => statements.forEach((statement) => void database.exec(statement))),
    rows: <Row extends object>(query: string) =>
      withFile((database) => database.prepare<[], Row>(query).safeIntegers().all()),
    tamper: (...statements) => Promise.resolve(tamper(file, ...statements)),
    bytes: (hex) => `x'${hex}'`,
    columns: async (table) => {
      const rows = await withFile((database) => database.pragma(`table_info(${table})`) as { readonly name: string }[]);
      return rows.map(({ name }) => name).join(', ');
    },
  };
}

function onServer(database: TestDatabase): Tables {
  const run = async (...statements: readonly string[]) => {
    for (const statement of statements) await database.run(statement);
  };
  return {
    run,
    rows: database.run,
    tamper: async (...statements) => {
      for (const table of ['keys', 'history', 'credentials', 'webhooks']) {
        await run(`ALTER TABLE ${table} ALTER mac DROP NOT NULL`);
      }
      await run(...statements);
    },
    bytes: (hex) => `'\\x${hex}'`,
    columns: async (table) => {
      const rows = await database.run<{ name: string }>(
        `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = '${table}' ORDER BY ordinal_position`,
      );
      return rows.map(({ name }) => name).join(', ');
    },
  };
}

export const sqlite: TestEngine = {
  name: 'a SQLite file',
  isMissing: false,
  make: ({ isEmpty } = {}) => place(undefined, isEmpty),
};

export const postgres: TestEngine = {
  name: `PostgreSQL${unlessMissing(server)}`,
  isMissing: 'missing' in server,
  make: async ({ isEmpty = false, isSeparate = false } = {}) => {
    const create = isSeparate ? separateDatabase : isEmpty ? freshDatabase : installedDatabase;
    return place(await create(server));
  },
};

/** Makes a place on an engine, and removes it after the running test. */
export async function makeOwnPlace({ make }: TestEngine, options?: PlaceOptions): Promise<EnginePlace> {
  const made = await make(options);
  onTestFinished(() => made.remove());
  return made;
}

/** Adds live counters in Redis to an engine. */
function withCounters(engine: TestEngine): TestEngine {
  return {
    name: `${engine.name} with counters in Redis${unlessNoRedis(redis)}`,
    isMissing: engine.isMissing || 'missing' in redis,
    make: async (options) => {
      const made = await engine.make(options);
      return { ...made, env: { ...made.env, ...(await redisSettings(redis)) } };
    },
  };
}

export const postgresAndRedis = withCounters(postgres);

/** The storage engines, on each of which the conformance suites run. */
export const engines: readonly TestEngine[] = [sqlite, postgres];

/** The engines and PostgreSQL with Redis, on which the suites of keys run. */
export const configurations: readonly TestEngine[] = [...engines, postgresAndRedis];

/** Describes a suite once for each engine. */
export function describeEngines(name: string, suite: (engine: TestEngine) => void): void {
  describeEach(engines, name, suite);
}

/** Describes a suite once for each configuration. */
export function describeConfigurations(name: string, suite: (engine: TestEngine) => void): void {
  describeEach(configurations, name, suite);
}

function describeEach(all: readonly TestEngine[], name: string, suite: (engine: TestEngine) => void): void {
  for (const engine of all) describe.skipIf(engine.isMissing)(`${name}, on ${engine.name}`, () => suite(engine));
}

/** Puts rows of a saved copy of a table back in the place of the present ones. */
export async function putRowsBack(place: EnginePlace, table: string, from: string, where: string): Promise<void> {
  const columns = await place.columns(table);
  await place.run(
    `DELETE FROM ${table} WHERE ${where}`,
    `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM ${from} WHERE ${where}`,
  );
}
