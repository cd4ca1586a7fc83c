import type { Database, Statement } from 'better-sqlite3';
import { sqliteDialect } from '../sql/dialect.js';
import type { Prepared, SqlSession, Value, Work } from '../sql/session.js';
import type { WriteGate } from './write-gate.js';

/** A session on the connection of the process. Work runs without a wait between its statements. */
export function createSqliteSession(database: Database, { read, write }: WriteGate): SqlSession {
  const statements = new Map<string, Statement<[object], object>>();

  function execute({ name, text }: Prepared, values: readonly Value[]): readonly object[] {
    let statement = statements.get(name);
    if (!statement) statements.set(name, (statement = database.prepare<[object], object>(text)));
    const parameters = parametersOf(values);
    if (statement.reader) return statement.all(parameters);
    statement.run(parameters);
    return [];
  }

  function runAll<T>(work: Work<T>): T {
    let step = work.next();
    while (!step.done) step = work.next(execute(step.value.statement, step.value.values));
    return step.value;
  }

  return {
    dialect: sqliteDialect,
    all: <Row>(statement: Prepared, values: readonly Value[] = []) =>
      read(() => execute(statement, values) as readonly Row[]),
    run: <Row>(statement: Prepared, values: readonly Value[] = []) =>
      write(() => execute(statement, values) as readonly Row[]),
    transaction: (work) => write(() => runAll(work())),
    snapshot: <T>(work: () => Work<T>) => read(() => database.transaction(() => runAll(work()))()),
  };
}

/** SQLite takes `$1` for a parameter with the name 1. */
export function parametersOf(values: readonly Value[]): object {
  return Object.fromEntries(values.map((value, index) => [index + 1, asParameter(value)]));
}

/** A list becomes JSON, which `json_each` reads. */
function asParameter(value: Value): Exclude<Value, readonly unknown[]> {
  if (!isList(value)) return value;
  return typeof value[0] === 'bigint' ? `[${value.join()}]` : JSON.stringify(value);
}

const isList = (value: Value): value is readonly string[] | readonly bigint[] => Array.isArray(value);
