import { SqliteError, type Database } from 'better-sqlite3';
import type { ReadBudget } from '../../keys/read-budget.js';
import { withinBudget } from '../within-budget.js';
import type { SizeLimit, WideQuery, WideReader } from '../sql/session.js';
import { parametersOf } from './session.js';
import { clockMs, createBoundedQuery, type BoundedQuery, type Query, type QueryResult } from './bounded-query.js';
import type { WriteGate } from './write-gate.js';
import { createInlineRunner, type QueryRunner } from './query-runner.js';

/** Reads keys on the connection of the service when that is quick, and everything else in a worker. */
export interface Reader extends WideReader {
  readonly close: () => Promise<void>;
}

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

  const inWorker = (query: BoundQuery, reads: ReadBudget | undefined): Promise<Done> =>
    withinBudget(reads, async () => {
      const untilMs = reads ? performance.timeOrigin + reads.endsAtMs : Infinity;
      return done(await run({ ...query, untilMs }), reads);
    });

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
    close,
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
