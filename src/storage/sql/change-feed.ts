import type { ChangeFeed, FeedQuery } from '../../keys/change-feed.js';
import { revisionLayouts, revisionFromRow, type RevisionRow } from '../records/revision.js';
import type { RowSigner } from '../../crypto/row-signer.js';
import { cursorOf, foreignCursor, fingerprintOf, positionOfCursor, start, type FeedPosition } from './feed-cursor.js';
import { createSignedTable, type SignedRow } from '../records/signed.js';

/** The part of a change that the filters of a query need. */
export interface ScannedRow extends FeedPosition {
  readonly key_hash: string;
  readonly org_id: string;
  /** The size of the definition and the changes of the entry, in bytes. */
  readonly size: bigint;
}

/** The changes from a position on. */
export interface FeedSlice {
  /** Whether the position is after every change that this database has had. */
  readonly isBeyond: boolean;
  /** The change at the position; undefined if it has been purged. */
  readonly current: (FeedPosition & { readonly link: Uint8Array }) | undefined;
  /** The changes after it, in order, up to the first before which others may still be committed. */
  readonly scanned: readonly ScannedRow[];
}

/** The rows of the history in the order of all changes. */
export interface FeedRows {
  readonly read: (after: FeedPosition, limit: number) => Promise<FeedSlice>;
  /** The rows with these numbers, in any order. Those that were purged meanwhile are left out. */
  readonly entries: (ids: readonly bigint[]) => Promise<readonly (SignedRow<RevisionRow> & { readonly id: bigint })[]>;
  readonly newest: () => Promise<(FeedPosition & { readonly link: Uint8Array }) | undefined>;
  readonly follow: (onMore: () => void) => () => void;
}

/** The maximum number of changes that one read filters. */
const maxScanned = 1_000;

/** The maximum size of a page; one entry may be longer. Reading and verifying so much takes milliseconds. */
const maxPageBytes = 256 * 1024;

/** The number of entries of a page. */
function countWithin(matching: readonly ScannedRow[], limit: number): number {
  let bytes = 0;
  const cut = matching.findIndex(({ size }, index) => (bytes += Number(size)) > maxPageBytes && index > 0);
  return Math.min(limit, cut === -1 ? matching.length : cut);
}

/** The change feed: the history, which every change writes to in its transaction. */
export function createChangeFeed(rows: FeedRows, signer: RowSigner): ChangeFeed {
  const table = createSignedTable<RevisionRow>(signer, 'audit', revisionLayouts);

  return {
    async read({ after, orgID, keyHash, limit }: FeedQuery) {
      const from = after === undefined ? { ...start, mark: '' } : positionOfCursor(after);
      const { isBeyond, current, scanned } = await rows.read(from, maxScanned);
      const isOther =
        current && (current.tx !== from.tx || (from.mark !== '' && fingerprintOf(current.link) !== from.mark));
      if (isBeyond || isOther) throw foreignCursor();

      const matching = scanned.filter(
        (row) => (orgID === undefined || row.org_id === orgID) && (keyHash === undefined || row.key_hash === keyHash),
      );
      const page = matching.slice(0, countWithin(matching, limit));
      const isFull = matching.length > page.length;
      const last = isFull ? page.at(-1) : scanned.at(-1);
      const wanted = new Map([...page, ...(last ? [last] : [])].map((place) => [place.id, place]));
      const found = wanted.size === 0 ? [] : await rows.entries([...wanted.keys()]);
      const entries = new Map(found.map((row) => [row.id, row]));
      return {
        events: page.flatMap((place) => {
          const row = entries.get(place.id);
          if (!row) return [];
          // One entry that fails its integrity check must not keep all that follow from being read.
          const entry = table.isAuthentic(row) ? revisionFromRow(row) : undefined;
          const { key_hash: keyHash, org_id: orgID, version_after: version } = row;
          return { cursor: cursorOf(place, fingerprintOf(row.link)), keyHash, orgID, version: Number(version), entry };
        }),
        cursor: last ? cursorOf(last, fingerprintOf(entries.get(last.id)?.link)) : cursorOf(from, from.mark),
        hasMore: isFull || scanned.length === maxScanned,
      };
    },
    async latestCursor() {
      const place = await rows.newest();
      return place ? cursorOf(place, fingerprintOf(place.link)) : cursorOf(start, '');
    },
    subscribe: rows.follow,
  };
}
