import type { Database } from 'better-sqlite3';

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
