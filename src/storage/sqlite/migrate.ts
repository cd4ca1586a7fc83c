import type { Database } from 'better-sqlite3';
import { keysAndCredentials } from './migrations/0001-keys-and-credentials.js';
import { credentialLife } from './migrations/0002-credential-life.js';

/** In order, and never changed once released: the version of a database is how many of them it has seen. */
const migrations: readonly string[] = [keysAndCredentials, credentialLife];

/** Brings the schema up to date, each step in a transaction of its own. Throws where the database is newer than we are. */
export function migrate(database: Database): void {
  const versionOf = () => Number(database.pragma('user_version', { simple: true }));
  if (versionOf() > migrations.length) {
    throw new Error(
      `it has schema version ${versionOf()}, and this Keyfront knows ${migrations.length}; use a newer Keyfront`,
    );
  }
  for (const [index, statements] of migrations.entries()) {
    const apply = database.transaction(() => {
      // Asked inside, so that two processes that start together do not both apply it.
      if (versionOf() > index) return;
      database.exec(statements);
      database.pragma(`user_version = ${index + 1}`);
    });
    apply.immediate();
  }
}
