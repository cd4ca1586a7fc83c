import Database from 'better-sqlite3';

/** Changes a database, bypassing the service, after dropping the triggers that would reject the change. */
export function tamper(file: string, ...statements: string[]): void {
  const database = new Database(file);
  const triggers = database
    .prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    .all();
  for (const { name } of triggers) database.exec(`DROP TRIGGER ${name}`);
  for (const statement of statements) {
    if (database.prepare(statement).run().changes === 0) throw new Error(`This changed nothing: ${statement}`);
  }
  database.close();
}
