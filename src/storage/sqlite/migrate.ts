import type { Database } from 'better-sqlite3';
import { keysAndCredentials } from './migrations/0001-keys-and-credentials.js';

/** In order, and never changed once released: the version of a database is how many of them it has seen. */
const migrations: readonly string[] = [keysAndCredentials];

/** The version that a database has once it is up to date. */
export const schemaVersion = migrations.length;

export function versionOf(database: Database): number {
  return Number(database.pragma('user_version', { simple: true }));
}

/** Brings the schema up to date, each step in a transaction of its own. Throws where the database is newer than we are. */
export function migrate(database: Database): void {
  const found = versionOf(database);
  if (found > schemaVersion) {
    throw new Error(`it has schema version ${found}, and this Keyfront knows ${schemaVersion}; use a newer Keyfront`);
  }
  for (const [index, statements] of migrations.entries()) {
    const apply = database.transaction(() => {
      // Asked inside, so that two processes that start together do not both apply it.
      if (versionOf(database) > index) return;
      database.exec(statements);
      database.pragma(`user_version = ${index + 1}`);
    });
    apply.immediate();
  }
}
