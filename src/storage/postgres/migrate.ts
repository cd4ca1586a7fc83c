import { DatabaseError } from 'pg';
import { feedOffset } from '../sql/dialect.js';
import { migrations, migrationsIn, requireSchema, versionAfter } from '../sql/schema.js';
import { settingStatements } from '../sql/settings.js';
import { inTransaction, type Session } from './pool.js';

const statements = migrations.map(({ postgres }) => postgres);

/** The setting that holds the version of the schema. */
const name = 'schema_version';

/**
 * Applies the migrations that the database lacks, each in a transaction of its own. The caller holds the advisory lock.
 *
 * @throws {Error} when the database has a newer schema, or tables of another program.
 */
export async function migrate(session: Session, steps: readonly string[] = statements): Promise<void> {
  const found = await versionOf(session);
  requireSchema(found, { known: versionAfter(steps.length), allowOlder: true });
  for (const [index, step] of steps.entries()) {
    if (index < migrationsIn(found)) continue;
    await inTransaction(session, async () => {
      await session.query(step);
      await session.query(settingStatements.set, [name, String(versionAfter(index + 1))]);
    });
  }
}

/**
 * The version of the schema of a database; 0 if it is empty.
 *
 * @throws {Error} when tables with our names belong to another program, and every error of the connection and the server.
 */
export async function versionOf(session: Session): Promise<number> {
  const [tables] = await session.query<{ settings: string | null; taken: string | null }>(
    `SELECT to_regclass('settings')::text AS settings, coalesce(to_regclass('keys'), to_regclass('history'),
       to_regclass('credentials'), to_regclass('key_terms'))::text AS taken`,
  );
  const taken = tables?.settings ?? tables?.taken;
  if (taken === null || taken === undefined) return 0;
  const version = tables?.settings ? await versionSetting(session) : undefined;
  if (version === undefined)
    throw new Error(`it has a table ${taken} that is not Keyfront's; use a separate database or schema`);
  return Number(version);
}

async function versionSetting(session: Session): Promise<string | undefined> {
  try {
    const [row] = await session.query<{ value: string }>(settingStatements.get, [name]);
    return row?.value;
  } catch (error) {
    if (error instanceof DatabaseError && foreignTableCodes.has(error.code ?? '')) return undefined;
    throw error;
  }
}

/** Undefined columns, functions of other types, and values that a column of another type does not take. */
const foreignTableCodes: ReadonlySet<string> = new Set(['42703', '42883', '22P02']);

const nextPosition = `pg_snapshot_xmax(pg_current_snapshot())::text::bigint + ${feedOffset}`;

/**
 * After a restored dump, transaction numbers may restart lower: new entries would come before existing ones, and these
 * would count as not yet committed. Raises the offset so that new entries come last.
 */
export async function raiseFeedOffset(session: Session): Promise<void> {
  await session.query(
    `UPDATE settings SET value = newest.tx::text FROM (SELECT max(tx) AS tx FROM history) AS newest
     WHERE name = 'feed_offset' AND newest.tx >= ${nextPosition}`,
  );
}
