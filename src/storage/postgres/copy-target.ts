import {
  copiedTables,
  createRowSource,
  endOfHashes,
  migratedFrom,
  migrationSourceSetting,
  type CopiedRow,
  type CopiedTableName,
  type HashRange,
  type RowTarget,
} from '../sql/copy-store.js';
import { namesOf } from '../records/signed.js';
import { settingStatements } from '../sql/settings.js';
import { inTransaction, type PgPool, type Session } from './pool.js';
import { createPgSession, unnestRows } from './session.js';

/** The target of a copy. At the end, `migratedFrom` replaces `migrationSourceSetting`, which names the source until then. */
export function createRowTarget(connections: PgPool): RowTarget {
  const { run } = connections;

  return {
    ...createRowSource(createPgSession(connections)),
    replace: (source, tables, range) =>
      run((session) =>
        inTransaction(session, async () => {
          for (const table of tables) {
            await clear(session, table, range);
            for await (const rows of source.rows(table, range)) await insert(session, table, rows);
          }
        }),
      ),
    finish: (values) =>
      run((session) =>
        inTransaction(session, async () => {
          // New rows get numbers after the copied ones.
          for (const table of numbered) {
            await session.query(
              `SELECT setval(pg_get_serial_sequence('${table}', 'id'), coalesce(max(id), 0) + 1, false) FROM ${table}`,
            );
          }
          for (const [name, value] of values) {
            await session.query(settingStatements.set, [name, value]);
          }
          // Until autovacuum does it, up to a minute later, the planner scans `audit` to read the histories of several keys.
          await session.query(`ANALYZE ${Object.keys(copiedTables).join(', ')}`);
          await session.query('UPDATE settings SET name = $2 WHERE name = $1', [migrationSourceSetting, migratedFrom]);
        }),
      ),
  };
}

/** Tables whose rows have numbers of their own. */
const numbered = ['audit', 'quota_changes'] as const;

async function clear(session: Session, table: CopiedTableName, range: HashRange | undefined): Promise<void> {
  if (range) {
    const { after, upTo = endOfHashes } = range;
    await session.query(`DELETE FROM ${table} WHERE key_hash > $1 AND key_hash <= $2`, [after, upTo]);
  } else {
    await session.query(`DELETE FROM ${table}`);
  }
}

async function insert(session: Session, table: CopiedTableName, rows: readonly CopiedRow[]): Promise<void> {
  const { columns } = copiedTables[table];
  const names = namesOf(columns);
  // Entries of a file are in the order of their numbers, so they have no transaction.
  const [txColumn, txValue] = table === 'audit' ? [', tx', ', 0'] : ['', ''];
  await session.query(
    `INSERT INTO ${table} (${names.join(', ')}${txColumn}) SELECT *${txValue} FROM ${unnestRows('r', columns, 1).sql}`,
    names.map((column) => rows.map((row) => row[column])),
  );
}
