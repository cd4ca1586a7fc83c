import type { Tinypool } from 'tinypool';
import { AppError } from '../../lib/errors.js';
import type { BoundedQuery, Query, QueryResult } from './bounded-query.js';

/** Runs queries that may look at many rows. */
export interface QueryRunner {
  /** UNAVAILABLE when too many wait. */
  readonly run: (query: Query) => Promise<QueryResult>;
  readonly close: () => Promise<void>;
}

/** For a database in memory, which no other thread can open. */
export function createInlineRunner(run: BoundedQuery): QueryRunner {
  return { run: (query) => Promise.resolve(query).then(run), close: () => Promise.resolve() };
}

/** Two, so that a query which needs all of its time holds no other up. */
const maxThreads = 2;
const maxWaiting = 64;
const idleMs = 30_000;

/** The keys that one request reads are 6 MiB at the most. Without a limit each thread would have young objects of as much as the main thread. */
const resourceLimits = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 };

/** Worker threads with a connection each, started when there is a query for them. */
export function createWorkerRunner(file: string): QueryRunner {
  let started: Promise<Tinypool> | undefined;
  let isClosed = false;

  async function start(): Promise<Tinypool> {
    const { Tinypool: Pool } = await import('tinypool');
    return new Pool({
      filename: new URL('./read-worker.js', import.meta.url).href,
      minThreads: 0,
      maxThreads,
      maxQueue: maxWaiting,
      idleTimeout: idleMs,
      resourceLimits,
    });
  }

  return {
    async run(query) {
      if (isClosed) throw new Error('The database is closed.');
      const pool = await (started ??= start());
      if (pool.queueSize >= maxWaiting) {
        throw new AppError('UNAVAILABLE', 'Too many reads of many keys are waiting; try again shortly.', {
          retryAfterSeconds: 1,
        });
      }
      return pool.run({ file, query }) as Promise<QueryResult>;
    },
    async close() {
      isClosed = true;
      await (await started)?.destroy();
    },
  };
}
