import type { Session } from './pool.js';

/** The setting that is added to the numbers of this server's transactions, so that they come after all in the history. */
const offset = `(SELECT value::bigint FROM settings WHERE name = 'feed_offset')`;

/** The place of what is written now, as far as the transaction says it. */
export const currentPosition = `pg_current_xact_id()::text::bigint + ${offset}`;

/** All transactions below are over, so that nothing is ever added there. */
export const horizon = `pg_snapshot_xmin(pg_current_snapshot())::text::bigint + ${offset}`;

const next = `pg_snapshot_xmax(pg_current_snapshot())::text::bigint + ${offset}`;

/**
 * A server that a dump has been restored into counts its transactions from another number, perhaps a lower one: what it
 * writes would come before what is there, and what is there would count as not yet written. It is made to go on after it.
 */
export async function goOnAfterHistory(session: Session): Promise<void> {
  await session.query(
    `UPDATE settings SET value = newest.tx::text FROM (SELECT max(tx) AS tx FROM audit) AS newest
     WHERE name = 'feed_offset' AND newest.tx >= ${next}`,
  );
}
