import { Pool, types, type PoolClient } from 'pg';
import { readDeadlineMs } from '../../keys/read-budget.js';
import type { Prepared } from '../sql/session.js';
import { noConnection, classifyError, isStalePlan, unknownOutcome, unwritten } from './errors.js';

/** One connection, for as long as one piece of work takes. */
export interface Session {
  query<Row>(statement: Prepared | string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** The same for a statement after which it may be open whether something was written. */
  write<Row>(statement: Prepared | string, parameters?: readonly unknown[]): Promise<Row[]>;
}

/**
 * Connections to one server. Work is done again where it met another's transaction, or where its connection was lost
 * before anything was to be written; what cannot be done is UNAVAILABLE, in words that say whether it may have been.
 */
export interface PgPool {
  /**
   * Runs work on one connection. It may run again, so that it writes by one statement or in a transaction of its own, and
   * by `Session.write`, which is how an unknown outcome is noticed.
   */
  readonly run: <T>(work: (session: Session) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

const mostConnections = 12;
/** Nobody waits longer for a connection: whoever asks the service has a deadline as well. */
const connectWithinMs = 2_000;
const defaultStatementTimeoutMs = 10_000;
const lockTimeoutMs = 3_000;
/** A server that is cut off says nothing at all. */
const answerWithinMs = 15_000;
const mostAttempts = 4;

/**
 * Overrides the defaults of the server, the database and the role. A write that waits for another transaction has to see
 * what that one has committed, and a commit is answered once it is durable; settings stricter than `on` stay.
 */
const requiredSettings = `SELECT set_config('default_transaction_isolation', 'read committed', false),
  CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', false) END`;

const int8 = 20;

function parserOf(oid: number, format: 'text' | 'binary' | undefined): unknown {
  return oid === int8 ? BigInt : types.getTypeParser(oid, format);
}

/** What connections are for. */
interface Bounds {
  /** The server rejects every statement that would write. */
  readonly isReadOnly?: boolean;
  /** How many there are at most. */
  readonly max?: number;
  readonly statementTimeoutMs?: number;
}

/** For reads that may look at many rows. Requests have as long, and other reads and all writes need none of these. */
export const wideReadLimits = { max: 4, statementTimeoutMs: readDeadlineMs } as const satisfies Bounds;

export function createPgPool(
  url: string,
  applicationName: string,
  { isReadOnly = false, max = mostConnections, statementTimeoutMs = defaultStatementTimeoutMs }: Bounds = {},
): PgPool {
  const pool = new Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: connectWithinMs,
    idleTimeoutMillis: 60_000,
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: answerWithinMs,
    query_timeout: answerWithinMs,
    keepAlive: true,
    application_name: applicationName,
    types: {
      // Every integer of ours has 64 bits, and a number of JavaScript's has not.
      getTypeParser: (oid, format) => parserOf(oid, format),
    },
  });
  // A connection that breaks while nobody uses it is gone from the pool, and that is all there is to do about it.
  pool.on('error', () => undefined);
  // While somebody uses it, the statement under way tells.
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
  });
  const withSettings = new WeakSet<PoolClient>();

  async function connect(): Promise<PoolClient> {
    const client = await pool.connect();
    if (withSettings.has(client)) return client;
    try {
      await client.query(requiredSettings);
      if (isReadOnly) await client.query(`SELECT set_config('default_transaction_read_only', 'on', false)`);
    } catch (error) {
      client.release(true);
      throw error;
    }
    withSettings.add(client);
    return client;
  }

  async function attempt<T>(work: (session: Session) => Promise<T>, sent: { isOpen: boolean }): Promise<T> {
    let client: PoolClient;
    try {
      client = await connect();
    } catch (error) {
      throw noConnection(error);
    }
    let isUsable = true;
    const run = async <Row>(statement: Prepared | string, parameters: readonly unknown[] = []): Promise<Row[]> => {
      const query = typeof statement === 'string' ? { text: statement } : statement;
      const { rows } = await client.query<object & Row>({ ...query, values: [...parameters] });
      return rows;
    };
    try {
      return await work({
        query: run,
        write: async (statement, parameters) => {
          sent.isOpen = true;
          return run(statement, parameters);
        },
      });
    } catch (error) {
      const trouble = classifyError(error);
      isUsable = trouble !== 'lost' && !isStalePlan(error);
      // The server undoes what it refuses.
      if (trouble === 'refused' || trouble === 'again') sent.isOpen = false;
      throw error;
    } finally {
      client.release(!isUsable);
    }
  }

  async function run<T>(work: (session: Session) => Promise<T>): Promise<T> {
    for (let count = 1; ; count += 1) {
      const sent = { isOpen: false };
      try {
        return await attempt(work, sent);
      } catch (error) {
        const trouble = classifyError(error);
        if (trouble === 'lost' && sent.isOpen) throw unknownOutcome(error);
        // Each such attempt closes a connection, and new ones have no stale plan.
        if (isStalePlan(error)) count -= 1;
        if (trouble === undefined || trouble === 'refused' || count === mostAttempts) throw unwritten(error);
        // Two that were in each other's way would meet again at once.
        if (trouble === 'again') await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * count));
      }
    }
  }

  return { run, close: () => pool.end() };
}

/** Runs work within a transaction that sees one moment throughout, and writes nothing. */
export async function inSnapshot<T>(session: Session, work: () => Promise<T>): Promise<T> {
  await session.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
  return finished(session, work);
}

/** Runs work within a transaction. */
export async function inTransaction<T>(session: Session, work: () => Promise<T>): Promise<T> {
  await session.query('BEGIN');
  return finished(session, work);
}

async function finished<T>(session: Session, work: () => Promise<T>): Promise<T> {
  let done: T;
  try {
    done = await work();
  } catch (error) {
    // Where the connection is lost, so is the transaction, and the first error tells more than this one.
    await session.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
  await session.write('COMMIT');
  return done;
}
