import { namesOf, type Columns } from '../records/signed.js';
import { postgresDialect } from '../sql/dialect.js';
import type { Prepared, SqlSession, Value, Work } from '../sql/session.js';
import { inSnapshot, inTransaction, type PgPool, type Session } from './pool.js';

/** A session on the connections of a pool, one for each piece of work. */
export function createPgSession({ run }: PgPool): SqlSession {
  return {
    dialect: postgresDialect,
    all: <Row>(statement: Prepared, values: readonly Value[] = []) =>
      run((session) => session.query<Row>(statement, values)),
    run: <Row>(statement: Prepared, values: readonly Value[] = []) =>
      run((session) => session.write<Row>(statement, values)),
    snapshot: (work) => run((session) => inSnapshot(session, () => runAll(session, work()))),
    transaction: (work) => run((session) => inTransaction(session, () => runAll(session, work()))),
  };
}

async function runAll<T>(session: Session, work: Work<T>): Promise<T> {
  let step = work.next();
  while (!step.done) step = work.next(await session.query<object>(step.value.statement, step.value.values));
  return step.value;
}

/** The types of columns in PostgreSQL. */
export const postgresTypes: Readonly<Record<Columns[string], string>> = {
  text: 'text',
  'text?': 'text',
  integer: 'bigint',
  'integer?': 'bigint',
  bytes: 'bytea',
  'bytes?': 'bytea',
};

/** Rows from one array parameter per column, starting at parameter `from`. */
export function unnestRows(name: string, columns: Columns, from: number): { sql: string; next: number } {
  const types = Object.values(columns);
  const parameters = types.map((type, index) => `$${from + index}::${postgresTypes[type]}[]`);
  return {
    sql: `unnest(${parameters.join(', ')}) AS ${name} (${namesOf(columns).join(', ')})`,
    next: from + types.length,
  };
}
