import type { Database } from 'better-sqlite3';
import { migratedTo } from '../migrated.js';
import { MigratedError } from './errors.js';

/** The settings of a file. Synchronous, for the opening of a file and for transactions. */
export function createSettings(database: Database) {
  const get = database.prepare<[string], { value: string }>('SELECT value FROM settings WHERE name = ?');
  const set = database.prepare<[string, string]>(
    'INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  const remove = database.prepare<[string]>('DELETE FROM settings WHERE name = ?');
  return {
    get: (name: string) => get.get(name)?.value,
    set: (name: string, value: string): void => {
      set.run(name, value);
    },
    remove: (name: string): void => {
      remove.run(name);
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
  const settings = createSettings(database);
  const before = settings.get(migratedTo);
  return () => {
    const target = settings.get(migratedTo);
    if (target === undefined || target === before) return;
    throw new MigratedError(`${database.name} was copied to the database ${target} while it was in use.`);
  };
}
