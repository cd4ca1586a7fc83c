import { migratedTo } from '../migrated.js';
import type { Database } from './connection.js';
import { MigratedError } from './errors.js';
import { createSettings } from './settings.js';

/**
 * Remembers whether `migrate-store` has marked the database as copied. A service that was started with
 * `--allow-migrated` has opened a marked one.
 *
 * @returns a function that reads the mark again. Within a write transaction its result holds until the commit.
 * @throws {MigratedError} from that function, when the database was marked since.
 */
export function rememberMigrationMark(database: Database): () => void {
  const settings = createSettings(database);
  const before = settings.get(migratedTo);
  return () => {
    const target = settings.get(migratedTo);
    if (target === undefined || target === before) return;
    throw new MigratedError(`${database.name} was copied to the database ${target} while it was in use.`);
  };
}
