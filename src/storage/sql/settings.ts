import type { Contents, Settings } from '../storage.js';
import type { Dialect } from './dialect.js';
import { prepared, type SqlSession } from './session.js';

/** The statements of the settings. */
export const settingStatements = {
  get: prepared('SELECT value FROM settings WHERE name = $1'),
  set: prepared(
    'INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  ),
  remove: prepared('DELETE FROM settings WHERE name = $1'),
};

/** The settings of a database, each written in a transaction of its own. */
export function createSettings({ all, run, dialect }: Pick<SqlSession, 'all' | 'run' | 'dialect'>): Settings {
  const readTime = prepared(`SELECT ${dialect.nowMs} AS now_ms`);
  return {
    get: async (name) => (await all<{ value: string }>(settingStatements.get, [name]))[0]?.value,
    set: async (name, value) => {
      await run(settingStatements.set, [name, value]);
    },
    remove: async (name) => {
      await run(settingStatements.remove, [name]);
    },
    list: async (prefix) => {
      const rows = await all<{ name: string; value: string }>(listByPrefix, [prefix]);
      return rows.map(({ name, value }) => [name, value] as const);
    },
    now: async () => new Date(Number((await all<{ now_ms: bigint }>(readTime))[0]?.now_ms)),
  };
}

const listByPrefix = prepared(
  'SELECT name, value FROM settings WHERE substr(name, 1, length(CAST($1 AS text))) = $1 ORDER BY name',
);

const countKeys = prepared('SELECT count(*) AS keys FROM keys');
const newestEntry = ({ hexOf }: Dialect) =>
  prepared(
    `SELECT at, ${hexOf('key_hash')} AS key_hash, version FROM history WHERE version > 0 ORDER BY id DESC LIMIT 1`,
  );

/** Figures of the database. No signature is verified. */
export async function readContents({ all, dialect }: SqlSession): Promise<Omit<Contents, 'schemaVersion'>> {
  const [count] = await all<{ keys: bigint }>(countKeys);
  const [newest] = await all<{ at: bigint; key_hash: string; version: bigint }>(newestEntry(dialect));
  return {
    keys: Number(count?.keys ?? 0n),
    newestChange: newest && {
      at: new Date(Number(newest.at)),
      keyHash: newest.key_hash,
      version: Number(newest.version),
    },
  };
}
