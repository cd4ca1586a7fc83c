import { SqliteError, type Database } from 'better-sqlite3';
import type { Tinypool } from 'tinypool';
import { AppError } from '../../lib/errors.js';
import type { ReadBudget } from '../../keys/read-budget.js';
import type { SizeLimit, WideQuery, WideReader } from '../sql/session.js';
import { parametersOf } from './session.js';
import { clockMs, createBoundedQuery, type Query, type QueryResult } from './bounded-query.js';
import type { WriteGate } from './write-gate.js';

/** Reads keys on the connection of the service when that is quick, and everything else in a worker. */
export interface Reader extends WideReader {
  readonly close: () => Promise<void>;
}

/** What a page that an index finds takes many times over. */
const quickMs = 2;
const quickBytes = 256 * 1024;

/**
 * Creates the reader of a connection.
 *
 * @param runner - runs long reads; absent for a database in memory, which no other thread can open
 */
export function createReader(database: Database, { read }: Pick<WriteGate, 'read'>, runner?: QueryRunner): Reader {
  const runQuickly = createBoundedQuery(database);
  const run: QueryRunner['run'] = runner?.run ?? ((query) => Promise.resolve(query).then(runQuickly));

  const inWorker = (query: BoundQuery, reads: ReadBudget | undefined): Promise<Done> => {
    const untilMs = reads ? performance.timeOrigin + reads.endsAtMs : Infinity;
    const work = async () => done(await run({ ...query, untilMs }), reads);
    return reads ? reads.inOrder(work) : work();
  };

  return {
    many: async <Row>(query: WideQuery, reads?: ReadBudget) => (await inWorker(bound(query), reads)).rows as Row[],
    async keys<Row>(query: WideQuery, limit: SizeLimit, reads?: ReadBudget) {
      const ready = bound(query);
      const quick = await read(() => {
        const result = runQuickly({
          ...ready,
          keys: { maxBytes: Math.min(quickBytes, limit.maxBytes), mayCut: false },
          untilMs: clockMs() + quickMs,
        });
        return result.outcome === 'late' ? undefined : done(result);
      }, reads);
      const isTooMuch = quick && !limit.mayCut && quick.found.bytes > limit.maxBytes;
      const isDone = quick && (isTooMuch || quick.rows.length === quick.found.count);
      const { rows, found } = isDone ? quick : await inWorker({ ...ready, keys: limit }, reads);
      return { rows: rows as Row[], found };
    },
    close: async () => runner?.close(),
  };
}

type BoundQuery = Omit<Query, 'untilMs'>;

const bound = ({ sql, parameters }: WideQuery): BoundQuery => ({ sql, parameters: parametersOf(parameters) });

type Done = Extract<QueryResult, { readonly outcome: 'done' }>;

function done(result: QueryResult, reads?: ReadBudget): Done {
  if (result.outcome === 'done') return result;
  if (result.outcome === 'failed') throw new SqliteError(result.message, result.code);
  throw reads ? reads.expired() : new Error('A query without a deadline was late.');
}

/** Runs queries that may look at many rows. */
interface QueryRunner {
  /** UNAVAILABLE when too many wait. */
  readonly run: (query: Query) => Promise<QueryResult>;
  readonly close: () => Promise<void>;
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
