import type { Database, Statement } from 'better-sqlite3';
import { sqliteDialect } from '../sql/dialect.js';
import { settingStatements } from '../sql/settings.js';
import type { Prepared, SqlSession, Value, Work } from '../sql/session.js';

/** Executes statements at once. Each is prepared once. */
export function createExecutor(database: Database) {
  const statements = new Map<string, Statement<[object]>>();

  return <Row = object>({ text }: Prepared, values: readonly Value[] = []): readonly Row[] => {
    let statement = statements.get(text);
    if (!statement) statements.set(text, (statement = database.prepare<[object]>(text)));
    const parameters = parametersOf(values);
    if (statement.reader) return statement.all(parameters) as readonly Row[];
    statement.run(parameters);
    return [];
  };
}

/** How work reaches the connection: `write` runs in a transaction and resolves when that is durable. */
interface SqliteGate {
  readonly read: <T>(work: () => T) => Promise<T>;
  readonly write: <T>(work: () => T) => Promise<T>;
}

/** A session on the connection of the process. Work runs without a wait between its statements. */
export function createSqliteSession(database: Database, { read, write }: SqliteGate): SqlSession {
  const execute = createExecutor(database);

  function runAll<T>(work: Work<T>): T {
    let step = work.next();
    while (!step.done) step = work.next(execute(step.value.statement, step.value.values));
    return step.value;
  }

  return {
    dialect: sqliteDialect,
    all: <Row>(statement: Prepared, values?: readonly Value[]) => read(() => execute<Row>(statement, values)),
    run: <Row>(statement: Prepared, values?: readonly Value[]) => write(() => execute<Row>(statement, values)),
    transaction: (work) => write(() => runAll(work())),
    snapshot: <T>(work: () => Work<T>) => read(() => database.transaction(() => runAll(work()))()),
  };
}

/** SQLite parses `$1` as a parameter named 1. */
export function parametersOf(values: readonly Value[]): object {
  const parameters: Record<number, unknown> = {};
  for (const [index, value] of values.entries()) parameters[index + 1] = asParameter(value);
  return parameters;
}

/** A list becomes JSON, which `json_each` reads. */
function asParameter(value: Value): Exclude<Value, readonly unknown[]> {
  if (!isList(value)) return value;
  return typeof value[0] === 'bigint' ? `[${value.join()}]` : JSON.stringify(value);
}

const isList = (value: Value): value is readonly string[] | readonly bigint[] => Array.isArray(value);

/** The settings of a file, for the opening of a file and for transactions. */
export function createFileSettings(database: Database) {
  const execute = createExecutor(database);
  return {
    get: (name: string) => execute<{ value: string }>(settingStatements.get, [name])[0]?.value,
    set: (name: string, value: string): void => {
      execute(settingStatements.set, [name, value]);
    },
    remove: (name: string): void => {
      execute(settingStatements.remove, [name]);
    },
  };
}
