import { revisionColumns } from '../records/revision.js';
import { keyColumns } from '../records/key.js';
import { migratedFrom } from '../migrated.js';
import { smallTables, type HashRange, type RowSource, type RowTarget, type SmallTable } from '../sql/copy-store.js';
import { unnestRows } from './columns.js';
import { inTransaction, type PgPool, type Session } from './pool.js';
import { createSettings } from './settings.js';

type PostgresRow = Readonly<Record<string, unknown>>;

const chunkSize = 500;

/** Statements for a table that is moved, in the order that a moving reads it. */
const tables = {
  keys: { columns: [...keyColumns, 'mac'], order: ['key_hash'] },
  audit: { columns: ['id', ...revisionColumns, 'mac'], order: ['key_hash', 'version_after'] },
  key_terms: { columns: ['term', 'key_hash', 'org_id'], order: ['key_hash', 'term'] },
} as const;

type Table = keyof typeof tables;

/**
 * A database that is being filled. At the end, `migratedFrom` takes the place of the setting `migrationSourceSetting`, which holds the
 * id of the source until then.
 */
export function createRowTarget(connections: PgPool, migrationSourceSetting: string): RowTarget {
  const { run } = connections;
  const settings = createSettings(connections);
  const rowsOf = (table: Table): RowSource['keys'] =>
    async function* (range) {
      const [first, second] = tables[table].order;
      const place = second === undefined ? '(key_hash) > ($1)' : `(key_hash, ${second}) > ($1, $3)`;
      const columns = tables[table].columns.join(', ');
      for (let last: PostgresRow | undefined, isFirst = true; isFirst || last !== undefined; isFirst = false) {
        const after = isFirst
          ? { where: '(key_hash) > ($1)', values: [range.after, range.upTo ?? null] }
          : {
              where: place,
              values: [last?.[first], range.upTo ?? null, ...(second === undefined ? [] : [last?.[second]])],
            };
        const rows = await run((session) =>
          session.query<PostgresRow>(
            `SELECT ${columns} FROM ${table} WHERE ${after.where} AND ($2::text IS NULL OR key_hash <= $2)
             ORDER BY ${tables[table].order.join(', ')} LIMIT ${chunkSize}`,
            after.values,
          ),
        );
        yield rows;
        last = rows.length === chunkSize ? rows.at(-1) : undefined;
      }
    };

  return {
    keys: rowsOf('keys'),
    audit: rowsOf('audit'),
    terms: rowsOf('key_terms'),
    small: (table) =>
      run((session) => session.query<PostgresRow>(`SELECT * FROM ${table} ORDER BY ${smallTables[table]}`)),
    setting: (name) => settings.get(name),
    replace: (range, from) =>
      run((session) =>
        inTransaction(session, async () => {
          for (const table of ['keys', 'audit', 'key_terms'] as const) await clear(session, table, range);
          for await (const rows of from.keys(range)) await insert(session, 'keys', tables.keys.columns, rows);
          for await (const rows of from.audit(range)) await insert(session, 'audit', tables.audit.columns, rows);
          for await (const rows of from.terms(range))
            await insert(session, 'key_terms', tables.key_terms.columns, rows);
        }),
      ),
    replaceSmall: (table, rows) =>
      run((session) =>
        inTransaction(session, async () => {
          await session.query(`DELETE FROM ${table}`);
          const [first] = rows;
          if (first) await insert(session, table, Object.keys(first), rows);
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
            await session.query('INSERT INTO settings (name, value) VALUES ($1, $2)', [name, value]);
          }
          await session.query('UPDATE settings SET name = $2 WHERE name = $1', [migrationSourceSetting, migratedFrom]);
        }),
      ),
  };
}

/** Tables whose rows have numbers of their own. */
const numbered = ['audit', 'quota_changes'] as const;

async function clear(session: Session, table: Table, { after, upTo }: HashRange): Promise<void> {
  await session.query(`DELETE FROM ${table} WHERE key_hash > $1 AND ($2::text IS NULL OR key_hash <= $2)`, [
    after,
    upTo ?? null,
  ]);
}

async function insert(
  session: Session,
  table: Table | SmallTable,
  columns: readonly string[],
  rows: readonly PostgresRow[],
): Promise<void> {
  // The number of an entry and the name of a credential are called alike.
  const typed = numbered.some((one) => one === table)
    ? columns.map((column) => (column === 'id' ? 'id_of_entry' : column))
    : columns;
  // Entries of a file are in the order of their numbers, so they have no transaction.
  const [txColumn, txValue] = table === 'audit' ? [', tx', ', 0'] : ['', ''];
  await session.query(
    `INSERT INTO ${table} (${columns.join(', ')}${txColumn}) SELECT *${txValue} FROM ${unnestRows('r', typed, 1).sql}`,
    columns.map((column) => rows.map((row) => row[column])),
  );
}
