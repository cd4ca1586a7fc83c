import { SqliteError, type Database } from 'better-sqlite3';
import { AppError } from '../../lib/errors.js';
import type { ReadBudget } from '../../keys/read-budget.js';
import type { SizeLimit, WideQuery, WideReader } from '../sql/session.js';
import { parametersOf } from './session.js';
import { clockMs, createBoundedQuery, type Query, type QueryResult } from './bounded-query.js';
import type { ReadTask } from './read-worker.js';
import { createThreadPool } from './thread-pool.js';
import type { WriteGate } from './write-gate.js';

/** Runs short reads on the main connection, others in a worker. */
export interface Reader extends WideReader {
  readonly close: () => Promise<void>;
}

/** Limits of a read on the main connection, a multiple of what a page that an index finds takes. */
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

  const inWorker = (query: BoundQuery, reads: ReadBudget | undefined): Promise<CompletedQuery> => {
    const untilMs = reads ? performance.timeOrigin + reads.endsAtMs : Infinity;
    const work = async () => requireCompleted(await run({ ...query, untilMs }), reads);
    return reads ? reads.inOrder(work) : work();
  };

  /** Undefined if the query takes longer. */
  const quickly = (query: BoundQuery, reads: ReadBudget | undefined): Promise<CompletedQuery | undefined> =>
    read(() => {
      const result = runQuickly({ ...query, untilMs: clockMs() + quickMs });
      return result.outcome === 'late' ? undefined : requireCompleted(result);
    }, reads);

  return {
    many: async <Row>(query: WideQuery, reads?: ReadBudget) => (await inWorker(bindQuery(query), reads)).rows as Row[],
    async few<Row>(query: WideQuery, reads?: ReadBudget) {
      const ready = bindQuery(query);
      const { rows } = (await quickly(ready, reads)) ?? (await inWorker(ready, reads));
      return rows as Row[];
    },
    async keys<Row>(query: WideQuery, limit: SizeLimit, reads?: ReadBudget) {
      const ready = bindQuery(query);
      const maxBytes = Math.min(quickBytes, limit.maxBytes);
      const quick = await quickly({ ...ready, keys: { maxBytes, mayCut: false } }, reads);
      const isTooMuch = quick && !limit.mayCut && quick.found.bytes > limit.maxBytes;
      const isDone = quick && (isTooMuch || quick.rows.length === quick.found.count);
      const { rows, found } = isDone ? quick : await inWorker({ ...ready, keys: limit }, reads);
      return { rows: rows as Row[], found };
    },
    close: async () => runner?.close(),
  };
}

type BoundQuery = Omit<Query, 'untilMs'>;

const bindQuery = ({ sql, parameters }: WideQuery): BoundQuery => ({ sql, parameters: parametersOf(parameters) });

type CompletedQuery = Extract<QueryResult, { readonly outcome: 'done' }>;

/**
 * Returns the completed query.
 *
 * @throws {AppError} UNAVAILABLE when the deadline of the request was reached.
 * @throws {SqliteError} when the query failed.
 */
function requireCompleted(result: QueryResult, reads?: ReadBudget): CompletedQuery {
  if (result.outcome === 'done') return result;
  if (result.outcome === 'failed') throw new SqliteError(result.message, result.code);
  throw reads ? reads.expired() : new Error('A query without a deadline was late.');
}

/** Runs queries that may scan many rows. */
interface QueryRunner {
  /** @throws {AppError} UNAVAILABLE when too many queries wait. */
  readonly run: (query: Query) => Promise<QueryResult>;
  readonly close: () => Promise<void>;
}

/** Two, so that a query that runs until its deadline does not delay others. */
const maxThreads = 2;
const maxWaiting = 64;

/** Runs queries in worker threads with a connection each, which start with the first query. */
export function createWorkerRunner(file: string): QueryRunner {
  const pool = createThreadPool<ReadTask, QueryResult>(new URL('./read-worker.js', import.meta.url).href, maxThreads);
  return {
    async run(query) {
      if ((await pool.waiting()) >= maxWaiting) {
        throw new AppError('UNAVAILABLE', 'Too many reads of many keys are waiting; try again shortly.', {
          retryAfterSeconds: 1,
        });
      }
      return pool.run({ file, query });
    },
    close: pool.close,
  };
}
