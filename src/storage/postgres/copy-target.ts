import {
  copiedTables,
  createRowSource,
  isInRange,
  migratedFrom,
  migrationSourceSetting,
  type CopiedRow,
  type CopiedTableName,
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
    replace: (source, table, range) =>
      run((session) =>
        inTransaction(session, async () => {
          const [isWithin, values] = isInRange(table, range);
          await session.query(`DELETE FROM ${table} WHERE ${isWithin}`, values);
          for await (const rows of source.rows(table, range)) await insert(session, table, rows);
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
          // Until autovacuum does it, up to a minute later, the planner scans `history` to read the histories of several keys.
          await session.query(`ANALYZE ${Object.keys(copiedTables).join(', ')}`);
          await session.query('UPDATE settings SET name = $2 WHERE name = $1', [migrationSourceSetting, migratedFrom]);
        }),
      ),
  };
}

/** Tables whose rows have numbers of their own. */
const numbered = ['orgs', 'terms', 'actors', 'history', 'quota_changes'] as const;

async function insert(session: Session, table: CopiedTableName, rows: readonly CopiedRow[]): Promise<void> {
  const { columns } = copiedTables[table];
  const names = namesOf(columns);
  // Entries of a file are in the order of their numbers, so they have no transaction.
  const [txColumn, txValue] = table === 'history' ? [', tx', ', 0'] : ['', ''];
  await session.query(
    `INSERT INTO ${table} (${names.join(', ')}${txColumn}) SELECT *${txValue} FROM ${unnestRows('r', columns, 1).sql}`,
    names.map((column) => rows.map((row) => row[column])),
  );
}
