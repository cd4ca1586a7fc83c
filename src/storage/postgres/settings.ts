import type { Settings } from '../storage.js';
import { prepared } from '../sql/session.js';
import type { PgPool } from './pool.js';

const select = prepared('SELECT value FROM settings WHERE name = $1');
const upsert = prepared(
  'INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
);

export function createSettings({ run }: PgPool): Settings {
  return {
    get: (name) =>
      run(async (session) => {
        const [row] = await session.query<{ value: string }>(select, [name]);
        return row?.value;
      }),
    set: (name, value) =>
      run(async (session) => {
        await session.write(upsert, [name, value]);
      }),
  };
}
