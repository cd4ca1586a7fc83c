import type { ChangeFeed, FeedQuery } from '../../keys/change-feed.js';
import { revisionLayouts, revisionFromRow, type RevisionRow } from '../records/revision.js';
import type { Authenticity } from '../records/authenticity.js';
import { cursorOf, foreignCursor, fingerprintOf, positionOfCursor, start, type FeedPosition } from './feed-cursor.js';
import { createSignedTable, type SignedRow } from '../records/signed.js';

/** As much of a change as tells whether it is asked for. */
export interface ScannedRow extends FeedPosition {
  readonly key_hash: string;
  readonly org_id: string;
  /** How long the definition and the changes of the entry are, in bytes. */
  readonly size: bigint;
}

/** What an engine finds from a place on. */
export interface FeedSlice {
  /** Whether no change of this database has ever stood there. */
  readonly isBeyond: boolean;
  /** What stands at the place itself; undefined where it has been purged. */
  readonly there: (FeedPosition & { readonly link: Uint8Array }) | undefined;
  /** What comes after it, in order: only what nothing can come before any more. */
  readonly scanned: readonly ScannedRow[];
}

/** The rows of the history in the order of all changes, as an engine has them. */
export interface FeedRows {
  readonly look: (after: FeedPosition, limit: number) => Promise<FeedSlice>;
  /** The rows with these numbers, in any order. Those that were purged meanwhile are left out. */
  readonly entries: (ids: readonly bigint[]) => Promise<readonly (SignedRow<RevisionRow> & { readonly id: bigint })[]>;
  readonly newest: () => Promise<(FeedPosition & { readonly link: Uint8Array }) | undefined>;
  readonly follow: (onMore: () => void) => () => void;
}

/** Bounds what one read looks at, however much of it was asked for. */
const mostScanned = 1_000;

/** How long the entries of a page are together; one entry may be longer. Reading and verifying them takes milliseconds. */
const maxPageBytes = 256 * 1024;

/** How many entries from the first on a page has. */
function countWithin(asked: readonly ScannedRow[], limit: number): number {
  let bytes = 0;
  const cut = asked.findIndex(({ size }, index) => (bytes += Number(size)) > maxPageBytes && index > 0);
  return Math.min(limit, cut === -1 ? asked.length : cut);
}

/** The changes out of the history, which every change is written to along with itself. */
export function createChangeFeed(rows: FeedRows, authenticity: Authenticity): ChangeFeed {
  const table = createSignedTable<RevisionRow>(authenticity, 'audit', revisionLayouts);

  return {
    async read({ after, orgID, keyHash, limit }: FeedQuery) {
      const from = after === undefined ? { ...start, mark: '' } : positionOfCursor(after);
      const { isBeyond, there, scanned } = await rows.look(from, mostScanned);
      const isOther = there && (there.tx !== from.tx || (from.mark !== '' && fingerprintOf(there.link) !== from.mark));
      if (isBeyond || isOther) throw foreignCursor();

      const asked = scanned.filter(
        (row) => (orgID === undefined || row.org_id === orgID) && (keyHash === undefined || row.key_hash === keyHash),
      );
      const page = asked.slice(0, countWithin(asked, limit));
      const isFull = asked.length > page.length;
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
        hasMore: isFull || scanned.length === mostScanned,
      };
    },
    async latestCursor() {
      const place = await rows.newest();
      return place ? cursorOf(place, fingerprintOf(place.link)) : cursorOf(start, '');
    },
    subscribe: rows.follow,
  };
}
