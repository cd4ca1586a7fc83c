import type { Database } from 'better-sqlite3';
import { keysAndCredentials } from './migrations/0001-keys-and-credentials.js';
import { credentialLife } from './migrations/0002-credential-life.js';
import { signatures } from './migrations/0003-signatures.js';
import { quotaChanges } from './migrations/0004-quota-changes.js';
import { webhooks } from './migrations/0005-webhooks.js';

/** In order, and never changed once released: the version of a database is how many of them it has seen. */
export const migrations: readonly string[] = [keysAndCredentials, credentialLife, signatures, quotaChanges, webhooks];

/** The version that a database has once it is up to date. */
export const schemaVersion = migrations.length;

/**
 * Brings the schema up to date, each step in a transaction of its own, with the version it leads to. Throws where the
 * database is newer than we are.
 */
export function migrate(database: Database, steps: readonly string[] = migrations): void {
  if (versionOf(database) > steps.length) throw new Error(wrongVersion(database, 'use a newer Keyfront'));
  for (const [index, statements] of steps.entries()) {
    const apply = database.transaction(() => {
      // Asked inside, so that two processes that start together do not both apply it.
      if (versionOf(database) > index) return;
      database.exec(statements);
      database.pragma(`user_version = ${index + 1}`);
    });
    apply.immediate();
  }
}

/** Throws when the schema is older or newer than the one that we write. */
export function requireCurrent(database: Database): void {
  const version = versionOf(database);
  if (version > schemaVersion) throw new Error(wrongVersion(database, 'use a newer Keyfront'));
  if (version < schemaVersion) {
    throw new Error(wrongVersion(database, 'start the service once to bring it up to date'));
  }
}

/** How many migrations the database has seen. */
export function versionOf(database: Database): number {
  return Number(database.pragma('user_version', { simple: true }));
}

function wrongVersion(database: Database, advice: string): string {
  return `it has schema version ${versionOf(database)}, and this Keyfront knows ${migrations.length}; ${advice}`;
}
