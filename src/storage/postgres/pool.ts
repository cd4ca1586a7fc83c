import { Pool, types, type PoolClient } from 'pg';
import { readDeadlineMs } from '../../keys/read-budget.js';
import { urlsOfHosts } from '../../lib/postgres-hosts.js';
import type { Prepared } from '../sql/session.js';
import {
  isPoolExhausted,
  noConnection,
  classifyForRetry,
  isClosedConnection,
  isStalePlan,
  unknownOutcome,
  unwritten,
} from './errors.js';

/** One connection, for the duration of one piece of work. */
export interface Session {
  query<Row>(statement: Prepared | string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** The same for a statement that writes: its outcome is unknown when the connection is lost. */
  write<Row>(statement: Prepared | string, parameters?: readonly unknown[]): Promise<Row[]>;
}

/**
 * Connections to one server. Work runs again after a conflict, or when its connection was lost before it wrote. Failed
 * work rejects with UNAVAILABLE, and the message states whether anything may have been written.
 */
export interface PgPool {
  /**
   * Runs work on one connection. It may run again, so it writes with one statement or in one transaction, and by
   * `Session.write`, after which a lost connection means an unknown outcome.
   */
  readonly run: <T>(work: (session: Session) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

const maxConnections = 12;
/** The time that a request waits for a free connection. */
const connectTimeoutMs = 2_000;
const defaultStatementTimeoutMs = 10_000;
const lockTimeoutMs = 3_000;
/** For a server that is unreachable, which sends no error. */
const responseTimeoutMs = 15_000;
const maxAttempts = 4;

/**
 * Overrides the defaults of the server, the database and the role. A write that waits for another transaction has to see
 * what that one has committed, and a commit resolves when it is durable; settings stricter than `on` stay.
 */
const requiredSettings = `SELECT set_config('default_transaction_isolation', 'read committed', false),
  CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', false) END,
  pg_is_in_recovery() AS "isStandby"`;

const int8 = 20;

function parserOf(oid: number, format: 'text' | 'binary' | undefined): unknown {
  return oid === int8 ? BigInt : types.getTypeParser(oid, format);
}

interface ConnectionUse {
  /** A statement that writes was sent, and the server has not rolled it back. */
  isOpen: boolean;
  /** The connection was idle in the pool before, so the server may have ended it meanwhile. */
  isReused: boolean;
}

/** The options of a pool. */
interface PoolOptions {
  /** The server rejects every statement that would write. */
  readonly isReadOnly?: boolean;
  /** The maximum number of connections. */
  readonly max?: number;
  readonly statementTimeoutMs?: number;
}

/** Limits of reads that may scan many rows, on separate connections. */
export const wideReadLimits = { max: 4, statementTimeoutMs: readDeadlineMs } as const satisfies PoolOptions;

/** A standby is read-only until promotion. Classified by its code as the error of a connection. */
const standbyError = () => Object.assign(new Error('The server is a standby.'), { code: 'ESTANDBY' });

/**
 * Connections to the server at a URL, opened when they are needed. If the URL names several hosts, they go to the primary
 * among them: when it cannot be reached, or is a standby, the next host is tried.
 *
 * @param applicationName - what `pg_stat_activity` shows for these connections
 */
export function createPgPool(
  url: string,
  applicationName: string,
  { isReadOnly = false, max = maxConnections, statementTimeoutMs = defaultStatementTimeoutMs }: PoolOptions = {},
): PgPool {
  const shared = {
    max,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 60_000,
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: responseTimeoutMs,
    query_timeout: responseTimeoutMs,
    keepAlive: true,
    application_name: applicationName,
    types: {
      // Integers have 64 bits, which a JavaScript number cannot represent.
      getTypeParser: parserOf,
    },
  };
  function open(connectionString: string): Pool {
    const pool = new Pool({ ...shared, connectionString });
    // The pool has removed the idle connection that broke.
    pool.on('error', () => undefined);
    // The statement that uses the connection rejects.
    pool.on('connect', (client) => {
      client.on('error', () => undefined);
    });
    return pool;
  }
  const [first = url, ...others] = urlsOfHosts(url);
  const pools: readonly [Pool, ...Pool[]] = [open(first), ...others.map(open)];
  let primary = 0;
  const withSettings = new WeakSet<PoolClient>();

  async function connect(sent: ConnectionUse): Promise<PoolClient> {
    for (let tried = 1; ; tried += 1) {
      const index = primary;
      try {
        return await connectTo(index, sent);
      } catch (error) {
        if (tried === pools.length || isPoolExhausted(error)) throw error;
        // Unless another request has found the primary meanwhile.
        if (primary === index) primary = (index + 1) % pools.length;
      }
    }
  }

  async function connectTo(index: number, sent: ConnectionUse): Promise<PoolClient> {
    const client = await (pools[index] ?? pools[0]).connect();
    sent.isReused = withSettings.has(client);
    if (sent.isReused) return client;
    try {
      const { rows } = await client.query<{ isStandby: boolean }>(requiredSettings);
      if (pools.length > 1 && rows[0]?.isStandby === true) throw standbyError();
      if (isReadOnly) await client.query(`SELECT set_config('default_transaction_read_only', 'on', false)`);
    } catch (error) {
      client.release(true);
      throw error;
    }
    withSettings.add(client);
    return client;
  }

  async function attempt<T>(work: (session: Session) => Promise<T>, sent: ConnectionUse): Promise<T> {
    let client: PoolClient;
    try {
      client = await connect(sent);
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
      const errorClass = classifyForRetry(error);
      isUsable = errorClass !== 'connectionLost' && !isStalePlan(error);
      // The server has rolled the statement back.
      if (errorClass === 'permanent' || errorClass === 'retryable') sent.isOpen = false;
      throw error;
    } finally {
      client.release(!isUsable);
    }
  }

  async function run<T>(work: (session: Session) => Promise<T>): Promise<T> {
    for (let count = 1; ; count += 1) {
      const sent = { isOpen: false, isReused: false };
      try {
        return await attempt(work, sent);
      } catch (error) {
        const errorClass = classifyForRetry(error);
        if (errorClass === 'connectionLost' && sent.isOpen) throw unknownOutcome(error);
        // Each such attempt closes one idle connection of the pool, so it does not count: new ones have no stale plan,
        // and the server may have ended all of the idle ones.
        if (isStalePlan(error) || (sent.isReused && isClosedConnection(error))) count -= 1;
        if (errorClass === undefined || errorClass === 'permanent' || count === maxAttempts) throw unwritten(error);
        // A random delay: two conflicting transactions would conflict again.
        if (errorClass === 'retryable') await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * count));
      }
    }
  }

  return { run, close: async () => void (await Promise.all(pools.map((pool) => pool.end()))) };
}

/** Runs work that writes nothing in a transaction with one snapshot. */
export async function inSnapshot<T>(session: Session, work: () => Promise<T>): Promise<T> {
  await session.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const result = await orRollback(session, work);
  await session.query('COMMIT');
  return result;
}

/** Runs work within a transaction. */
export async function inTransaction<T>(session: Session, work: () => Promise<T>): Promise<T> {
  await session.query('BEGIN');
  const result = await orRollback(session, work);
  await session.write('COMMIT');
  return result;
}

async function orRollback<T>(session: Session, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // A lost connection has ended the transaction; the first error is the cause.
    await session.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
