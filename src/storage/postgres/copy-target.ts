import {
  createRowSource,
  endOfHashes,
  migratedFrom,
  rangeTableNames,
  rangeTables,
  smallTables,
  type CopiedRow,
  type HashRange,
  type RangeTable,
  type RowTarget,
  type SmallTable,
} from '../sql/copy-store.js';
import { namesOf, type Columns } from '../records/signed.js';
import { settingStatements } from '../sql/settings.js';
import { inTransaction, type PgPool, type Session } from './pool.js';
import { createPgSession, unnestRows } from './session.js';

/**
 * A database that is being filled. At the end, `migratedFrom` takes the place of the setting `migrationSourceSetting`, which holds the
 * id of the source until then.
 */
export function createRowTarget(connections: PgPool, migrationSourceSetting: string): RowTarget {
  const { run } = connections;

  return {
    ...createRowSource(createPgSession(connections)),
    replace: (range, from) =>
      run((session) =>
        inTransaction(session, async () => {
          for (const table of rangeTableNames) {
            await clear(session, table, range);
            const { columns } = rangeTables[table];
            for await (const rows of from.rows(table, range)) await insert(session, table, columns, rows);
          }
        }),
      ),
    replaceSmall: (table, rows) =>
      run((session) =>
        inTransaction(session, async () => {
          await session.query(`DELETE FROM ${table}`);
          await insert(session, table, smallTables[table].columns, rows);
        }),
      ),
    finish: (values) =>
      run((session) =>
        inTransaction(session, async () => {
          // What is written from now on comes after what was moved.
          for (const table of numbered) {
            await session.query(
              `SELECT setval(pg_get_serial_sequence('${table}', 'id'), coalesce(max(id), 0) + 1, false) FROM ${table}`,
            );
          }
          for (const [name, value] of values) {
            await session.query(settingStatements.set, [name, value]);
          }
          await session.query('UPDATE settings SET name = $2 WHERE name = $1', [migrationSourceSetting, migratedFrom]);
        }),
      ),
  };
}

/** Tables whose rows have numbers of their own. */
const numbered = ['audit', 'quota_changes'] as const;

async function clear(session: Session, table: RangeTable, { after, upTo = endOfHashes }: HashRange): Promise<void> {
  await session.query(`DELETE FROM ${table} WHERE key_hash > $1 AND key_hash <= $2`, [after, upTo]);
}

async function insert(
  session: Session,
  table: RangeTable | SmallTable,
  columns: Columns,
  rows: readonly CopiedRow[],
): Promise<void> {
  const names = namesOf(columns);
  // Entries of a file are in the order of their numbers, so they have no transaction.
  const [txColumn, txValue] = table === 'audit' ? [', tx', ', 0'] : ['', ''];
  await session.query(
    `INSERT INTO ${table} (${names.join(', ')}${txColumn}) SELECT *${txValue} FROM ${unnestRows('r', columns, 1).sql}`,
    names.map((column) => rows.map((row) => row[column])),
  );
}
