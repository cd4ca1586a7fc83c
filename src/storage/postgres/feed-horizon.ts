import { feedOffset } from '../sql/dialect.js';
import type { Session } from './pool.js';

/** The transaction part of the position of entries that are written now. */
export const currentPosition = `pg_current_xact_id()::text::bigint + ${feedOffset}`;

const next = `pg_snapshot_xmax(pg_current_snapshot())::text::bigint + ${feedOffset}`;

/**
 * After a dump was restored, the server may count its transactions from a lower number: new entries would come before
 * existing ones, and these would count as not yet committed. Raises the offset so that new entries come last.
 */
export async function goOnAfterHistory(session: Session): Promise<void> {
  await session.query(
    `UPDATE settings SET value = newest.tx::text FROM (SELECT max(tx) AS tx FROM audit) AS newest
     WHERE name = 'feed_offset' AND newest.tx >= ${next}`,
  );
}
