import { DatabaseError } from 'pg';
import { inTransaction, type Session } from './pool.js';
import { everything } from './migrations/0001-everything.js';
import { orderOfChanges } from './migrations/0002-order-of-changes.js';
import { quotaChanges } from './migrations/0003-quota-changes.js';
import { webhooks } from './migrations/0004-webhooks.js';

/** In order, and never changed once released: the version of a database is how many of them it has seen. */
export const migrations: readonly string[] = [everything, orderOfChanges, quotaChanges, webhooks];

/** The version that a database has once it is up to date. */
export const schemaVersion = migrations.length;

/** The setting that a database of ours has its version in. */
const name = 'schema_version';

/**
 * Brings the schema up to date, each step in a transaction of its own, with the version it leads to. Throws where the
 * database is newer than we are, or somebody else's. To be run by one process at a time.
 */
export async function migrate(session: Session, steps: readonly string[] = migrations): Promise<void> {
  const found = await versionOf(session);
  if (found > steps.length) {
    throw new Error(`it has schema version ${found}, and this Keyfront knows ${steps.length}; use a newer Keyfront`);
  }
  for (const [index, statements] of steps.entries()) {
    if (index < found) continue;
    await inTransaction(session, async () => {
      if (index === 0) {
        await session.query('CREATE TABLE settings (name text COLLATE "C" PRIMARY KEY, value text NOT NULL)');
      }
      await session.query(statements);
      await session.query(
        'INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
        [name, String(index + 1)],
      );
    });
  }
}

/** Throws when the schema is older or newer than the one that we write. */
export function requireCurrent(version: number): void {
  if (version === schemaVersion) return;
  const advice = version > schemaVersion ? 'use a newer Keyfront' : 'start the service once to bring it up to date';
  throw new Error(`it has schema version ${version}, and this Keyfront knows ${schemaVersion}; ${advice}`);
}

/**
 * How many migrations the database has seen.
 *
 * @throws {Error} when tables under our names are not ours, and every error of the connection and the server.
 */
export async function versionOf(session: Session): Promise<number> {
  const [tables] = await session.query<{ settings: string | null; taken: string | null }>(
    `SELECT to_regclass('settings')::text AS settings, coalesce(to_regclass('keys'), to_regclass('audit'),
       to_regclass('credentials'), to_regclass('key_terms'))::text AS taken`,
  );
  const taken = tables?.settings ?? tables?.taken;
  if (taken === null || taken === undefined) return 0;
  const version = tables?.settings ? await versionSetting(session) : undefined;
  if (version === undefined)
    throw new Error(`it has a table ${taken} that is not ours; give Keyfront a database or schema of its own`);
  return Number(version);
}

async function versionSetting(session: Session): Promise<string | undefined> {
  try {
    const [row] = await session.query<{ value: string }>('SELECT value FROM settings WHERE name = $1', [name]);
    return row?.value;
  } catch (error) {
    if (error instanceof DatabaseError && codesOfOtherTables.has(error.code ?? '')) return undefined;
    throw error;
  }
}

/** Undefined columns, functions for other types, and values that a column of another type does not take. */
const codesOfOtherTables: ReadonlySet<string> = new Set(['42703', '42883', '22P02']);
