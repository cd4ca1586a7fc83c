import type { Database } from 'better-sqlite3';
import type { RevisionRow } from '../records/revision.js';
import type { FeedRows } from '../sql/change-feed.js';
import { createChangeNotifier } from '../sql/change-notifier.js';
import type { SignedRow } from '../records/signed.js';
import type { WriteGate } from './write-gate.js';

/** How often the changes of other processes are looked for. */
const pollIntervalMs = 250;

/**
 * The history as one sequence. There is one writer at a time and no number is used twice, so the numbers of the entries are
 * the order of the commits. Call `changed` after each own commit.
 */
export function createFeedRows(database: Database, { read }: WriteGate) {
  const after = database.prepare<[bigint, number], { id: bigint; key_hash: string; org_id: string; size: bigint }>(
    `SELECT id, key_hash, org_id, octet_length(definition) + octet_length(changes) AS size FROM audit
     WHERE id > ? ORDER BY id LIMIT ?`,
  );
  const one = database.prepare<[bigint], { id: bigint; link: Uint8Array }>('SELECT id, link FROM audit WHERE id = ?');
  const last = database.prepare<[], { id: bigint; link: Uint8Array }>(
    'SELECT id, link FROM audit ORDER BY id DESC LIMIT 1',
  );
  const some = database.prepare<[string], SignedRow<RevisionRow> & { id: bigint }>(
    'SELECT * FROM audit WHERE id IN (SELECT value FROM json_each(?))',
  );
  // Includes the numbers of purged entries.
  const highest = database.prepare<[], bigint>(`SELECT seq FROM sqlite_sequence WHERE name = 'audit'`).pluck();
  const newest = () => highest.get() ?? 0n;
  const inOrder = <Row extends { readonly id: bigint }>(row: Row) => ({ ...row, tx: 0n });
  const atOnce = database.transaction((id: bigint, limit: number) => ({
    newest: newest(),
    current: one.get(id),
    rows: after.all(id, limit),
  }));

  const { follow, hint, stop } = createChangeNotifier({
    read: () => read(() => ({ newest: String(newest()), isPending: false })),
    everyMs: pollIntervalMs,
  });
  const rows: FeedRows = {
    read: (place, limit) =>
      read(() => {
        const found = atOnce(place.id, limit);
        return {
          isBeyond: place.tx !== 0n || place.id > found.newest,
          current: found.current && inOrder(found.current),
          scanned: found.rows.map(inOrder),
        };
      }),
    entries: (ids) => read(() => some.all(`[${ids.join()}]`)),
    newest: () =>
      read(() => {
        const row = last.get();
        return row && inOrder(row);
      }),
    follow,
  };
  return { rows, changed: hint, stop };
}
