import type { Database } from 'better-sqlite3';
import { migratedTo } from '../migrated.js';
import { settingStatements } from '../sql/settings.js';
import { MigratedError } from './errors.js';
import { createExecutor } from './session.js';

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

/**
 * Remembers whether `migrate-store` has marked the database as copied. A service that was started with
 * `--allow-migrated` has opened a marked one.
 *
 * @returns a function that reads the mark again. Within a write transaction its result holds until the commit.
 * @throws {MigratedError} from that function, when the database was marked since.
 */
export function createMigrationCheck(database: Database): () => void {
  const settings = createFileSettings(database);
  const before = settings.get(migratedTo);
  return () => {
    const target = settings.get(migratedTo);
    if (target === undefined || target === before) return;
    throw new MigratedError(`${database.name} was copied to the database ${target} while it was in use.`);
  };
}
