import type { RevisionRow } from '../records/revision.js';
import type { FeedRows, ScannedRow } from '../sql/change-feed.js';
import type { FeedPosition } from '../sql/feed-cursor.js';
import { createChangeNotifier } from '../sql/change-notifier.js';
import type { SignedRow } from '../records/signed.js';
import { prepared } from '../sql/session.js';
import type { PgPool } from './pool.js';
import { horizon } from './feed-horizon.js';
import type { PgNotifier } from './notifier.js';

/** The polling interval, for when a notification was lost. */
const pollIntervalMs = 1_000;

interface FeedBounds {
  readonly horizon: bigint;
  readonly newest_id: bigint;
  readonly tx: bigint | null;
  readonly id: bigint;
  readonly link: Uint8Array;
}

// The first row has the bounds and the entry at the position, the others the entries after it.
const look = prepared(
  `SELECT * FROM (
     SELECT (SELECT ${horizon}) AS horizon,
       coalesce(pg_sequence_last_value(pg_get_serial_sequence('audit', 'id')), 0) AS newest_id,
       a.tx, a.id, a.link, NULL AS key_hash, NULL AS org_id, NULL AS size
     FROM (SELECT) AS always LEFT JOIN audit a ON a.id = $2::bigint
     UNION ALL
     (SELECT NULL, NULL, tx, id, NULL, key_hash, org_id, (octet_length(definition) + octet_length(changes))::bigint
      FROM audit
      WHERE (tx, id) > ($1::bigint, $2::bigint) AND tx < (SELECT ${horizon}) ORDER BY tx, id LIMIT $3)
   ) AS found ORDER BY horizon NULLS LAST, tx, id`,
);
const some = prepared('SELECT * FROM audit WHERE id = ANY ($1::bigint[])');
const last = prepared(
  `SELECT tx, id, link FROM audit WHERE tx < (SELECT ${horizon}) ORDER BY tx DESC, id DESC LIMIT 1`,
);
const standing = prepared(
  `SELECT (SELECT tx || '.' || id FROM audit WHERE tx < (SELECT ${horizon}) ORDER BY tx DESC, id DESC LIMIT 1) AS newest,
     EXISTS (SELECT FROM audit WHERE tx >= (SELECT ${horizon})) AS "isPending"`,
);

/**
 * The history as one sequence, in the order of its transactions. It is read up to the oldest running transaction of the
 * server, whose entries may still come. Call `changed` after each own commit.
 */
export function createFeedRows({ run }: PgPool, notifier: PgNotifier) {
  const { follow, hint, stop } = createChangeNotifier({
    read: () =>
      run(async (session) => {
        const [row] = await session.query<{ newest: string | null; isPending: boolean }>(standing);
        return { newest: row?.newest ?? '', isPending: row?.isPending === true };
      }),
    listen: notifier.listen,
    everyMs: pollIntervalMs,
  });
  const rows: FeedRows = {
    read: (place, limit) =>
      run(async (session) => {
        const [first, ...scanned] = await session.query<FeedBounds | ScannedRow>(look, [place.tx, place.id, limit]);
        const { horizon: end, newest_id, tx, id, link } = first as FeedBounds;
        return {
          isBeyond: place.tx > 0n && (place.tx >= end || place.id > newest_id),
          current: tx === null ? undefined : { tx, id, link },
          scanned: scanned as ScannedRow[],
        };
      }),
    entries: (ids) =>
      run((session) => session.query<SignedRow<RevisionRow> & { readonly id: bigint }>(some, [[...ids]])),
    newest: () =>
      run(async (session) => {
        const [row] = await session.query<FeedPosition & { readonly link: Uint8Array }>(last);
        return row;
      }),
    follow,
  };
  return {
    rows,
    changed: () => {
      hint();
      notifier.notify();
    },
    stop,
  };
}
