import { AppError } from '../../lib/errors.js';
import { isInt64, maxInt64 } from '../../lib/int64.js';
import type { ChangeFeed, FeedPage, FeedQuery } from '../../keys/change-feed.js';
import { hasChanges, revisionTable, revisionFromRow, type StoredRevisionRow } from '../records/key-records.js';
import type { RowSigner } from '../../crypto/row-signer.js';
import { isNoticeRow, noticeFromRow } from '../records/notice.js';
import { createSignedTable } from '../records/signed.js';
import { createChangeNotifier, type ChangeNotifier, type ChangeSource } from './change-notifier.js';
import type { Dialect } from './dialect.js';
import { entrySize, rowTexts } from './rows.js';
import { batchesBySize } from './pages.js';
import { prepared, type Prepared, type SqlSession } from './session.js';

/**
 * The position of a change. Changes of one transaction share `tx`; an engine with one writer at a time has `tx` 0 only.
 */
export interface FeedPosition {
  readonly tx: bigint;
  readonly id: bigint;
}

/** Before the first change. */
const start: FeedPosition = { tx: 0n, id: 0n };

/** After the last change. */
const end: FeedPosition = { tx: maxInt64, id: maxInt64 };

/** A position with a fingerprint of its change, by which cursors of another history are detected; empty if it was purged. */
interface FingerprintedPosition extends FeedPosition {
  readonly mark: string;
}

/** Eight hex digits of the link of an entry: enough to distinguish two histories. */
function fingerprintOf(link: Uint8Array | undefined): string {
  return Buffer.from(link?.subarray(0, 4) ?? []).toString('hex');
}

/** Encodes a position of the change feed, with the fingerprint of the entry there. */
function cursorOf({ tx, id }: FeedPosition, mark: string): string {
  return Buffer.from(`${tx}.${id}.${mark}`, 'latin1').toString('base64url');
}

/** @throws {AppError} INVALID with the path of the argument when the text is not a cursor. */
function positionOfCursor(cursor: string, argument = 'after'): FingerprintedPosition {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const [, tx = '', id = '', mark = ''] = /^(\d{1,19})\.(\d{1,19})\.([\da-f]{8}|)$/.exec(text) ?? [];
  const position = { tx: int64Of(tx), id: int64Of(id), mark };
  if (position.tx === undefined || position.id === undefined) throw badCursor(argument);
  return { tx: position.tx, id: position.id, mark };
}

function int64Of(digits: string): bigint | undefined {
  const integer = digits === '' ? undefined : BigInt(digits);
  return integer !== undefined && isInt64(integer) ? integer : undefined;
}

/** The error for text that is not a cursor of the change feed. */
function badCursor(argument: string): AppError {
  return invalidCursor(argument, 'The cursor is not a cursor of the change feed.', 'must be a cursor of a change');
}

/** The error for a cursor of another history than that of the database. */
function foreignCursor(argument = 'after'): AppError {
  const message =
    'The cursor belongs to another database, or to changes that a restored backup does not have. Read the keys again, and follow without a cursor.';
  return invalidCursor(argument, message, 'must be a cursor of this database');
}

function invalidCursor(argument: string, message: string, issue: string): AppError {
  return new AppError('INVALID', message, {
    issues: [{ path: [argument], code: 'MALFORMED_ARGUMENT', message: issue }],
  });
}

/** The part of a change that the filters of a query need. */
interface ScannedRow extends FeedPosition {
  readonly key_hash: string;
  /** NULL in a damaged row. */
  readonly org_id: string | null;
  /** The size of the definition and the changes of the entry, in bytes. */
  readonly size: bigint;
}

/** The first row of a read. */
type BoundsRow = {
  /** 1 if the position is after every change that this database has had, else 0. */
  readonly is_beyond: bigint;
} & (LinkedPosition | { readonly [column in keyof LinkedPosition]: null });

type LinkedPosition = FeedPosition & { readonly link: Uint8Array };

/** The history, as rows in the order of all changes. It ends before the first entry before which others may be committed. */
function feedStatements(dialect: Dialect) {
  const { feed, hexOf, inList, types } = dialect;
  const { entryColumns } = rowTexts(dialect);
  const flag = (condition: string) => `CAST(CASE WHEN ${condition} THEN 1 ELSE 0 END AS bigint)`;
  const isComplete = `${feed.tx} < (SELECT ${feed.horizon})`;
  const newest = `FROM history WHERE ${isComplete} ORDER BY ${feed.order('DESC')} LIMIT 1`;
  const bounds = `${flag(feed.isBeyond)} AS is_beyond, a.tx, a.id, a.link`;
  const ofPosition = `FROM (SELECT 1 AS one) AS always LEFT JOIN (SELECT ${feed.tx} AS tx, id, link FROM history) a ON a.id = $2`;
  // The first row has the entry at the position, if it has not been purged; the others are the entries after it, or before it.
  const read = (condition: string, direction: 'ASC' | 'DESC') =>
    prepared(
      `SELECT * FROM (
         SELECT ${bounds}, CAST(NULL AS text) AS key_hash, CAST(NULL AS text) AS org_id, CAST(NULL AS bigint) AS size
         ${ofPosition}
       ) AS bounds
       UNION ALL SELECT * FROM (
         SELECT CAST(NULL AS bigint), ${feed.tx}, id, CAST(NULL AS ${types.bytes}), ${hexOf('h.key_hash')},
           (SELECT name FROM orgs o WHERE o.id = h.org), ${entrySize}
         FROM history h WHERE ${condition} AND ${isComplete} ORDER BY ${feed.order(direction)} LIMIT $3
       ) AS scanned`,
    );
  return {
    after: read(feed.isAfter, 'ASC'),
    before: read(feed.isBefore, 'DESC'),
    entries: prepared(`SELECT ${entryColumns} FROM history h WHERE h.id ${inList('$1', 'bigint')}`),
    bounds: prepared(`SELECT ${bounds} ${ofPosition}`),
    newest: prepared(`SELECT ${feed.tx} AS tx, id, link ${newest}`),
    state: prepared(
      `SELECT (SELECT ${feed.tx} || '.' || id ${newest}) AS newest,
         ${flag(feed.isPending)} AS is_pending`,
    ),
  };
}

/** Finds new changes of the history. */
export function createFeedNotifier(
  { dialect, all }: Pick<SqlSession, 'dialect' | 'all'>,
  source: Pick<ChangeSource, 'everyMs' | 'listen'>,
): ChangeNotifier {
  const sql = feedStatements(dialect);
  return createChangeNotifier({
    ...source,
    read: async () => {
      const [row] = await all<{ newest: string | null; is_pending: bigint }>(sql.state);
      return { newest: row?.newest ?? '', isPending: row?.is_pending === 1n };
    },
  });
}

/** The maximum number of changes that one read filters. */
const maxScanned = 1_000;

/** The maximum size of a page in bytes; one entry may be larger. Verifying a page takes milliseconds. */
const maxPageBytes = 256 * 1024;

/** Whether the position is not one of this history. */
function isForeign({ is_beyond: isBeyond, tx, link }: BoundsRow, from: FingerprintedPosition): boolean {
  if (isBeyond === 1n || tx === null) return isBeyond === 1n;
  return tx !== from.tx || (from.mark !== '' && fingerprintOf(link) !== from.mark);
}

/** Returns a function that reads the position of a cursor. It throws INVALID with the path `cursor` for one of another history. */
export function createCursorReader({ dialect, all }: SqlSession): (cursor: string) => Promise<FeedPosition> {
  const { bounds } = feedStatements(dialect);
  return async (cursor) => {
    const position = positionOfCursor(cursor, 'cursor');
    const [row] = await all<BoundsRow>(bounds, [position.tx, position.id]);
    if (!row || isForeign(row, position)) throw foreignCursor('cursor');
    return position;
  };
}

/** The change feed: the history, which every change writes to in its transaction. */
export function createChangeFeed(
  { dialect, all }: SqlSession,
  signer: RowSigner,
  { follow }: ChangeNotifier,
): ChangeFeed {
  const sql = feedStatements(dialect);
  const table = createSignedTable(signer, revisionTable);

  /** Reads the changes after a cursor, or those before it; without one, from the beginning or the end. */
  async function readPage(
    statement: Prepared,
    cursor: string | undefined,
    edge: FeedPosition,
    { orgID, keyHash, limit }: Pick<FeedQuery, 'orgID' | 'keyHash' | 'limit'>,
  ): Promise<FeedPage> {
    const from = cursor === undefined ? { ...edge, mark: '' } : positionOfCursor(cursor);
    const [bounds, ...found] = await all<object>(statement, [from.tx, from.id, maxScanned]);
    if (cursor !== undefined && isForeign(bounds as BoundsRow, from)) throw foreignCursor();
    const scanned = found as ScannedRow[];

    const matching = scanned.filter(
      (row) => (orgID === undefined || row.org_id === orgID) && (keyHash === undefined || row.key_hash === keyHash),
    );
    const [within = []] = batchesBySize(matching, maxPageBytes);
    const page = within.slice(0, limit);
    const isFull = matching.length > page.length;
    const last = isFull ? page.at(-1) : scanned.at(-1);
    const wanted = new Map([...page, ...(last ? [last] : [])].map((position) => [position.id, position]));
    const rows = wanted.size === 0 ? [] : await all<StoredRevisionRow>(sql.entries, [[...wanted.keys()]]);
    const entries = new Map(rows.map((row) => [row.id, row]));
    return {
      events: page.flatMap((position) => {
        const row = entries.get(position.id);
        if (!row) return [];
        // One entry that fails its integrity check must not keep all that follow from being read.
        const isAuthentic = table.isAuthentic(row);
        const { key_hash: keyHash, version } = row;
        // In a damaged row, the organization may be missing.
        const orgID = position.org_id ?? '';
        const cursor = cursorOf(position, fingerprintOf(row.link));
        const event = { cursor, keyHash, orgID, version: Number(version) };
        if (isNoticeRow(row)) {
          const notice = isAuthentic ? noticeFromRow(row) : undefined;
          return { ...event, entry: undefined, noticeID: row.event_id, notice };
        }
        return { ...event, entry: isAuthentic && hasChanges(row) ? revisionFromRow(row) : undefined };
      }),
      cursor: last ? cursorOf(last, fingerprintOf(entries.get(last.id)?.link)) : cursorOf(from, from.mark),
      hasMore: isFull || scanned.length === maxScanned,
    };
  }

  return {
    read: ({ after, ...query }) => readPage(sql.after, after, start, query),
    readBack: ({ before, ...query }) => readPage(sql.before, before, end, query),
    async latestCursor() {
      const [newest] = await all<LinkedPosition>(sql.newest);
      return newest ? cursorOf(newest, fingerprintOf(newest.link)) : cursorOf(start, '');
    },
    subscribe: follow,
  };
}
