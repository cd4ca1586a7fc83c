import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrate, migrations } from '../../src/storage/sqlite/migrate.js';

let folder: string;
let database: Database.Database;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyfront-migrate-'));
  database = new Database(join(folder, 'keyfront.db'));
});
afterEach(async () => {
  database.close();
  await rm(folder, { recursive: true });
});

/** The statements of a migration; a trigger’s own end on the line that it begins its body on. */
const statementsOf = (migration: string) =>
  migration
    .split(/;\n/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');

/** Everything that a database is: its schema and every row, with the version it says it has. */
function all(): unknown {
  const schema = database
    .prepare<[], { name: string; type: string }>('SELECT * FROM sqlite_schema ORDER BY type, name')
    .all();
  const tables = schema.filter(({ type }) => type === 'table').map(({ name }) => name);
  return {
    version: database.pragma('user_version', { simple: true }),
    schema,
    rows: tables.map((name) => database.prepare(`SELECT * FROM "${name}"`).all()),
  };
}

/** A row in every table that the first migration makes, as far as later ones must keep it. */
function fill(): void {
  // From the third on, rows are signed.
  const isSigned = database.prepare(`SELECT 1 FROM pragma_table_info('keys') WHERE name = 'mac'`).get() !== undefined;
  const [column, value] = isSigned ? [', mac', ", x'04'"] : ['', ''];
  database.exec(`
    INSERT INTO settings VALUES ('name', 'value');
    INSERT INTO keys (key_hash, sealed_key_id, org_id, version, date_created, last_updated, definition, alias, expires,
      is_inactive, quota_used, history_link${column}) VALUES ('h', x'01', 'acme', 1, '2026', 5, '{}', '', 0, 0, 0, x'02'${value});
    INSERT INTO audit (at, key_hash, org_id, operation, credential_id, credential_label, request_id, version_before,
      version_after, changes, definition, link${column})
      VALUES (1, 'h', 'acme', 'import', 'c', 'l', 'r', 0, 1, '[]', '{}', x'02'${value});
    INSERT INTO key_terms VALUES ('t:a', 'h', 'acme');
    INSERT INTO credentials (id, kind, label, secret_hash, created${column})
      VALUES ('c', 'service', 'l', x'${'03'.repeat(32)}', 1${value});`);
}

describe('D-10 a migration', () => {
  const faults = migrations.flatMap((migration, index) =>
    statementsOf(migration).map((_, count) => ({ index, count, version: index + 1 })),
  );

  it.each(faults)(
    'to version $version that fails after $count statements leaves schema, rows and version as they were, and succeeds the next time',
    ({ index, count }) => {
      if (index > 0) {
        // Later versions take rows with a signature only, and keep those from before.
        migrate(database, migrations.slice(0, 1));
        fill();
      }
      migrate(database, migrations.slice(0, index));
      const before = all();
      const broken = [...statementsOf(migrations[index] ?? '').slice(0, count), 'INSERT INTO nowhere VALUES (1)'].join(
        ';\n',
      );
      expect(() => migrate(database, [...migrations.slice(0, index), broken])).toThrow('no such table: nowhere');
      expect(all()).toStrictEqual(before);
      migrate(database);
      expect(database.pragma('user_version', { simple: true })).toBe(migrations.length);
      expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
    },
  );

  it('keeps every row of the version before', () => {
    migrate(database, migrations.slice(0, 1));
    fill();
    const rows = () =>
      ['settings', 'keys', 'audit', 'key_terms', 'credentials'].map((name) =>
        database.prepare(`SELECT * FROM ${name}`).get(),
      );
    const before = rows();
    migrate(database);
    expect(rows()).toMatchObject(before);
  });

  it('is not begun on a database of a newer version, and the refusal says what to use', () => {
    migrate(database);
    database.pragma(`user_version = ${migrations.length + 1}`);
    const before = all();
    expect(() => migrate(database)).toThrow(
      `it has schema version ${migrations.length + 1}, and this Keyfront knows ${migrations.length}; use a newer Keyfront`,
    );
    expect(all()).toStrictEqual(before);
  });
});
