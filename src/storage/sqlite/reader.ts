import { SqliteError, type Database } from 'better-sqlite3';
import type { ReadBudget } from '../../keys/read-budget.js';
import { withinBudget } from '../within-budget.js';
import {
  clockMs,
  createBoundedQuery,
  type BoundedQuery,
  type BoundedResult,
  type Query,
  type QueryResult,
} from './bounded-query.js';
import type { WriteGate } from './write-gate.js';
import { createInlineRunner, type QueryRunner } from './query-runner.js';

/** Reads of more than one key. */
export interface Reader {
  /** The rows of a query that may look at many. */
  readonly many: <Row>(query: ReadStatement, reads?: ReadBudget) => Promise<Row[]>;
  /** The rows of the keys that a query finds: on the connection of the service when that is quick, else in a worker. */
  readonly keys: <Row>(
    query: ReadStatement,
    reads: ReadBudget | undefined,
    limit: NonNullable<Query['keys']>,
  ) => Promise<{ readonly rows: Row[]; readonly found: BoundedResult }>;
  readonly close: () => Promise<void>;
}

type ReadStatement = Pick<Query, 'sql' | 'parameters'>;

/** What a page that an index finds takes many times over. */
const quickMs = 2;
const quickBytes = 256 * 1024;

/** `runnerOf` gives what runs the other queries; it may use the function that runs them on this connection. */
export function createReader(
  database: Database,
  { read }: Pick<WriteGate, 'read'>,
  runnerOf: (run: BoundedQuery) => QueryRunner = createInlineRunner,
): Reader {
  const runQuickly = createBoundedQuery(database);
  const { run, close } = runnerOf(runQuickly);

  const inWorker = (query: Omit<Query, 'untilMs'>, reads: ReadBudget | undefined): Promise<Done> =>
    withinBudget(reads, async () => {
      const untilMs = reads ? performance.timeOrigin + reads.endsAtMs : Infinity;
      return done(await run({ ...query, untilMs }), reads);
    });

  return {
    many: async <Row>(query: ReadStatement, reads?: ReadBudget) => (await inWorker(query, reads)).rows as Row[],
    async keys<Row>(query: ReadStatement, reads: ReadBudget | undefined, limit: NonNullable<Query['keys']>) {
      const quick = await read(() => {
        const result = runQuickly({
          ...query,
          keys: { maxBytes: Math.min(quickBytes, limit.maxBytes), mayCut: false },
          untilMs: clockMs() + quickMs,
        });
        return result.outcome === 'late' ? undefined : done(result);
      }, reads);
      const isTooMuch = quick && !limit.mayCut && quick.found.bytes > limit.maxBytes;
      const isDone = quick && (isTooMuch || quick.rows.length === quick.found.count);
      const { rows, found } = isDone ? quick : await inWorker({ ...query, keys: limit }, reads);
      return { rows: rows as Row[], found };
    },
    close,
  };
}

type Done = Extract<QueryResult, { readonly outcome: 'done' }>;

function done(result: QueryResult, reads?: ReadBudget): Done {
  if (result.outcome === 'done') return result;
  if (result.outcome === 'failed') throw new SqliteError(result.message, result.code);
  throw reads ? reads.expired() : new Error('A query without a deadline was late.');
}
