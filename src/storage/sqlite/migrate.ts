import type { Database } from 'better-sqlite3';
import { sqliteDialect } from '../sql/dialect.js';
import { migrations, requireSchema } from '../sql/schema.js';

const statements = migrations.map((migration) => migration(sqliteDialect));

/**
 * Applies the migrations that the database lacks, each in a transaction of its own.
 *
 * @throws {Error} when the database has a newer schema.
 */
export function migrate(database: Database, steps: readonly string[] = statements): void {
  requireSchema(versionOf(database), { known: steps.length, allowOlder: true });
  for (const [index, step] of steps.entries()) {
    const apply = database.transaction(() => {
      // Read again in the transaction: two processes may start at the same time.
      if (versionOf(database) > index) return;
      database.exec(step);
      database.pragma(`user_version = ${index + 1}`);
    });
    apply.immediate();
  }
}

/** How many migrations have been applied to the database. */
export function versionOf(database: Database): number {
  return Number(database.pragma('user_version', { simple: true }));
}
