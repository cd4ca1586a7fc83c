import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
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

/** What Keyfront stores in; suites of what every engine promises run on each. */
export const engines: readonly TestEngine[] = [sqlite, postgres];

/** A suite of what every engine promises, once for each of them. */
export function describeEngines(name: string, suite: (engine: TestEngine) => void): void {
  for (const engine of engines) describe.skipIf(engine.isMissing)(`${name}, on ${engine.name}`, () => suite(engine));
}
