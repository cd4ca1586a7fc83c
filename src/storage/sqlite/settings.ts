import type { Database } from 'better-sqlite3';

/** Facts that hold for a whole database, such as how its keys are hashed. */
export interface Settings {
  get(name: string): string | undefined;
  set(name: string, value: string): void;
}

export function createSettings(database: Database): Settings {
  const get = database.prepare<[string], { value: string }>('SELECT value FROM settings WHERE name = ?');
  const set = database.prepare<[string, string]>(
    'INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  return {
    get: (name) => get.get(name)?.value,
    set: (name, value) => {
      set.run(name, value);
    },
  };
}
