import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { redisSettings, testRedis, unlessMissing as unlessNoRedis } from './redis.js';
import { freshDatabase, testPostgres, unlessMissing, type TestDatabase } from './postgres.js';

/** A place that outlives the services which are started on it, any number of them at a time. */
export interface EnginePlace {
  /** The settings that a service on it takes. */
  readonly env: Record<string, string>;
  /** Of the key ring, and of the database where that is a file. */
  readonly folder: string;
  readonly database: TestDatabase | undefined;
  readonly remove: () => Promise<void>;
}

export interface TestEngine {
  /** With the reason, where it cannot be tried here, and how to try it. */
  readonly name: string;
  readonly isMissing: boolean;
  readonly make: () => Promise<EnginePlace>;
}

const server = await testPostgres();
const redis = testRedis();

async function place(database: TestDatabase | undefined): Promise<EnginePlace> {
  const folder = await mkdtemp(join(tmpdir(), 'keyfront-engine-'));
  return {
    env: { KEYFRONT_DATA: folder, ...(database && { KEYFRONT_DATABASE_URL: database.url }) },
    folder,
    database,
    remove: async () => {
      await rm(folder, { recursive: true, force: true });
      await database?.drop();
    },
  };
}

export const sqlite: TestEngine = {
  name: 'a SQLite file',
  isMissing: false,
  make: () => place(undefined),
};

export const postgres: TestEngine = {
  name: `PostgreSQL${unlessMissing(server)}`,
  isMissing: 'missing' in server,
  make: async () => place(await freshDatabase(server)),
};

/** A database with the live counters apart from it, in Redis. */
function withCounters(engine: TestEngine): TestEngine {
  return {
    name: `${engine.name} with counters in Redis${unlessNoRedis(redis)}`,
    isMissing: engine.isMissing || 'missing' in redis,
    make: async () => {
      const made = await engine.make();
      return { ...made, env: { ...made.env, ...(await redisSettings(redis)) } };
    },
  };
}

export const sqliteAndRedis = withCounters(sqlite);
export const postgresAndRedis = withCounters(postgres);

/** What Keyfront stores in; suites of what every engine promises run on each. */
export const engines: readonly TestEngine[] = [sqlite, postgres];

/** What the suites of the life of a key run on besides: what is true of one place is not said to be of two. */
export const configurations: readonly TestEngine[] = [...engines, postgresAndRedis];

/** A suite of what every engine promises, once for each of them. */
export function describeEngines(name: string, suite: (engine: TestEngine) => void): void {
  describeEach(engines, name, suite);
}

/** A suite of what every configuration promises, once for each of them. */
export function describeConfigurations(name: string, suite: (engine: TestEngine) => void): void {
  describeEach(configurations, name, suite);
}

function describeEach(all: readonly TestEngine[], name: string, suite: (engine: TestEngine) => void): void {
  for (const engine of all) describe.skipIf(engine.isMissing)(`${name}, on ${engine.name}`, () => suite(engine));
}
