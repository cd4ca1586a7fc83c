import { setImmediate as nextIteration } from 'node:timers/promises';
import { parseJSON } from '../../../lib/json.js';
import type { NewNotice } from '../../../keys/notices.js';
import type { KeyStore } from '../../../keys/ports.js';
import type { RowSigner } from '../../../crypto/row-signer.js';
import {
  keyFromRow,
  keyTable,
  revisionTable,
  type StoredKeyRow,
  type StoredRevisionRow,
} from '../../records/key-records.js';
import { mapInSlices, type TimeSlices } from '../../time-slices.js';
import { isNoticeRow, noticeFromRow, noticeIdentityOf, noticeToRow } from '../../records/notice.js';
import { createSignedTable, integrityError } from '../../records/signed.js';
import type { Dialect } from '../dialect.js';
import { createHeads } from '../heads.js';
import { placeOf, placesOf } from '../place.js';
import { rowTexts } from '../rows.js';
import { prepared, query, type SqlSession, type Work } from '../session.js';

/** The keys that one transaction passes, and how many bytes of definitions it verifies: a few milliseconds of work. */
const pageSize = 50;
const maxPageBytes = 256 * 1024;

/** The head that has the positions of all stages. Its row is locked while one of them is advanced. */
const headName = 'expiry-notices';

/** After the last row of a time. */
const afterAllKeys = 2n ** 63n - 1n;

/** How far the clocks of two hosts may differ. */
const clockToleranceSeconds = 60n;

/** How many late keys are counted. */
const maxCounted = 10_000;

/** How far a position may stay behind while no key is due: fewer writes. */
const maxLagSeconds = 3_600n;

/** The last key that a stage has passed: its expiry time, and its row. */
interface Position {
  readonly expires: bigint;
  readonly id: bigint;
}

type Positions = ReadonlyMap<string, Position>;

const statements = (dialect: Dialect) => {
  const { bytesOf, feed, hashes, inList, rowID } = dialect;
  const { keyColumns, entryColumns } = rowTexts(dialect);
  const [ofPosition, position] = feed.newTx === undefined ? ['', ''] : [', tx', `, ${feed.newTx}`];
  const due = `k.expires <= $1 AND (k.expires, k.id) > ($2, ${rowID('$3')})`;
  return {
    isDue: prepared(`SELECT 1 FROM keys k WHERE ${due} LIMIT 1`),
    due: prepared(
      `SELECT k.id, k.expires, CAST(octet_length(k.definition) AS bigint) AS size FROM keys k WHERE ${due}
       ORDER BY k.expires, k.id LIMIT ${pageSize}`,
    ),
    countBetween: prepared(
      `SELECT count(*) AS count FROM (
         SELECT 1 FROM keys WHERE expires > $1 AND expires <= $2 LIMIT ${maxCounted}) AS late`,
    ),
    keys: prepared(`SELECT ${keyColumns} FROM keys k WHERE k.id ${inList('$1', 'bigint')}`),
    addOrg: prepared('INSERT INTO orgs (name) VALUES ($1) ON CONFLICT DO NOTHING'),
    addActor: prepared('INSERT INTO actors (credential_id, label) VALUES ($1, $2) ON CONFLICT DO NOTHING'),
    add: prepared(
      `INSERT INTO history (key, version, key_hash, org, at, operation, actor, request_id, link, changes, event_id, notice, mac${ofPosition})
       VALUES ($1, $2, ${bytesOf('$3')}, (SELECT id FROM orgs WHERE name = $4), $5, $6,
         (SELECT id FROM actors WHERE credential_id = $7 AND label = $8), $9, $10, $11, $12, $13, $14${position})
       ON CONFLICT (event_id) WHERE event_id IS NOT NULL DO NOTHING RETURNING id`,
    ),
    byID: prepared(`SELECT ${entryColumns} FROM history h WHERE h.event_id = $1`),
    // As a bound of the index, which the newest notices of a key are found by.
    newest: prepared(
      `SELECT ${entryColumns} FROM ${hashes('$1')} AS w CROSS JOIN history h
       WHERE h.key = CAST(w.place AS bigint) AND h.event_id IS NOT NULL AND h.key_hash = ${bytesOf('w.hash')}
         AND h.id >= coalesce((
           SELECT n.id FROM history n WHERE n.key = CAST(w.place AS bigint) AND n.event_id IS NOT NULL
           ORDER BY n.id DESC LIMIT 1 OFFSET $2
         ), 0)`,
    ),
    purge: prepared(
      `DELETE FROM history WHERE id IN (
         SELECT id FROM history WHERE event_id IS NOT NULL AND at < $1 ORDER BY at LIMIT 500) RETURNING id`,
    ),
  };
};

type Notices = Pick<KeyStore, 'passExpiring' | 'addNotices' | 'notice' | 'noticesOf' | 'purgeNotices'>;

/** Records notices in the history, which is the change feed. */
export function createNoticeRows({ dialect }: Pick<SqlSession, 'dialect'>, signer: RowSigner) {
  const sql = statements(dialect);
  const revisions = createSignedTable(signer, revisionTable);

  /** Adds the notices that are not recorded yet, and returns how many. */
  return function* addNotices(notices: readonly NewNotice[]): Work<number> {
    let added = 0;
    const orgs = new Set<string>();
    // In one order, so that two processes with the same notices do not wait for each other.
    const rows = notices.map(noticeToRow).toSorted((a, b) => ((a.event_id ?? '') < (b.event_id ?? '') ? -1 : 1));
    for (const [index, unsigned] of rows.entries()) {
      const row = revisions.signed(unsigned);
      if (!orgs.has(row.org_id)) yield* query(sql.addOrg, [row.org_id]);
      if (index === 0) yield* query(sql.addActor, [row.credential_id, row.credential_label]);
      orgs.add(row.org_id);
      const values = [row.request_id, row.link, row.changes, row.event_id, row.notice, row.mac];
      const place = placeOf(row.key_hash);
      const { key_hash: hash, org_id: org, at, operation, credential_id: id, credential_label: label } = row;
      const found = yield* query(sql.add, [place, row.version, hash, org, at, operation, id, label, ...values]);
      added += found.length;
    }
    return added;
  };
}

/** The notices of keys, and how far the keys have been passed that expire. `onChange` is called after notices were added. */
export function createNotices(
  session: SqlSession,
  signer: RowSigner,
  slices: TimeSlices,
  onChange: () => void,
): Notices {
  const { dialect, all, run, transaction } = session;
  const sql = statements(dialect);
  const keys = createSignedTable(signer, keyTable);
  const revisions = createSignedTable(signer, revisionTable);
  const heads = createHeads(session, signer);
  const add = createNoticeRows(session, signer);

  function* readPositions(isLocked: boolean): Work<Positions> {
    const head = yield* isLocked ? heads.lock(headName) : heads.read(headName);
    if (!head) return new Map();
    if (!heads.isAuthentic(head)) throw integrityError('The head of the expiry notices');
    const content = parseJSON(head.content) as unknown as Record<string, readonly [string, string]>;
    return new Map(
      Object.entries(content).map(([name, [expires, id]]) => [name, { expires: BigInt(expires), id: BigInt(id) }]),
    );
  }

  function* writePosition(positions: Positions, name: string, { expires, id }: Position): Work<void> {
    const all = new Map(positions).set(name, { expires, id });
    const content = Object.fromEntries([...all].map(([key, at]) => [key, [String(at.expires), String(at.id)]]));
    yield* heads.put({ name: headName, sequence: 1n, content: JSON.stringify(content) });
  }

  /** Whether a position is to be moved, or a key is due after it. Writes nothing, because mostly there is nothing to do. */
  function* hasWork(name: string, upTo: bigint): Work<boolean> {
    const position = (yield* readPositions(false)).get(name);
    if (!position || isAhead(position, upTo) || upTo - position.expires > maxLagSeconds) return true;
    return (yield* query(sql.isDue, [upTo, position.expires, position.id])).length > 0;
  }

  return {
    async passExpiring({ name, earliest, upTo }, noticeFor) {
      const none = { recorded: 0, late: 0, damaged: 0, hasMore: false };
      if (!(await session.snapshot(() => hasWork(name, upTo)))) return none;
      const passed = await transaction(function* () {
        yield* heads.add({ name: headName, sequence: 1n, content: '{}' });
        const positions = yield* readPositions(true);
        const end = { expires: upTo, id: afterAllKeys };
        const from = positions.get(name);
        if (!from || isAhead(from, upTo)) {
          yield* writePosition(positions, name, end);
          return none;
        }
        if (from.expires > upTo) return none;
        if (from.expires < earliest) {
          const [found] = yield* query<{ count: bigint }>(sql.countBetween, [from.expires, earliest]);
          yield* writePosition(positions, name, { expires: earliest, id: afterAllKeys });
          return { ...none, late: Number(found?.count ?? 0n), hasMore: true };
        }
        type Due = { readonly id: bigint; readonly expires: bigint; readonly size: bigint };
        const due = yield* query<Due>(sql.due, [upTo, from.expires, from.id]);
        const page = withinSize(due);
        const notices: NewNotice[] = [];
        let damaged = 0;
        const rows = page.length === 0 ? [] : yield* query<StoredKeyRow>(sql.keys, [page.map(({ id }) => id)]);
        for (const row of rows) {
          const notice = keys.isAuthentic(row) ? noticeFor(keyFromRow(row)) : 'damaged';
          if (notice === 'damaged') damaged += 1;
          else if (notice) notices.push(notice);
        }
        const hasMore = page.length < due.length || due.length === pageSize;
        const recorded = yield* add(notices);
        yield* writePosition(positions, name, hasMore ? (page.at(-1) ?? end) : end);
        return { ...none, recorded, damaged, hasMore };
      });
      if (passed.recorded > 0) onChange();
      await nextIteration();
      return passed;
    },
    async addNotices(notices) {
      if (notices.length === 0) return 0;
      const added = await transaction(() => add(notices));
      if (added > 0) onChange();
      return added;
    },
    async notice(id) {
      const [row] = await all<StoredRevisionRow>(sql.byID, [id]);
      if (!row || !isNoticeRow(row)) return undefined;
      if (!revisions.isAuthentic(row)) throw revisions.integrityError(`The notice ${id}`, row);
      return noticeFromRow(row);
    },
    async noticesOf(wanted, limit) {
      if (wanted.length === 0) return [];
      const places = placesOf(wanted.map(({ keyHash }) => keyHash));
      const rows = await all<StoredRevisionRow>(sql.newest, [places, limit - 1]);
      const ofHashes = Map.groupBy(rows.filter(isNoticeRow), (row) => row.key_hash);
      return mapInSlices(slices, wanted, ({ keyHash, identity }) => {
        const ofHash = ofHashes.get(keyHash) ?? [];
        const damaged = ofHash.find((row) => !revisions.isAuthentic(row));
        if (damaged) return revisions.integrityError(`A notice of ${keyHash}`, damaged);
        // The key may have been purged and added again.
        const ofKey = ofHash.filter((row) => noticeIdentityOf(row) === identity);
        return ofKey.toSorted((a, b) => (a.id > b.id ? -1 : 1)).map(noticeFromRow);
      });
    },
    async purgeNotices(before) {
      let total = 0;
      for (let count = -1; count !== 0; total += count) {
        count = (await run(sql.purge, [BigInt(before.getTime())])).length;
      }
      return total;
    },
  };
}

/** Whether a position is later than the clock permits, because that was set back. */
function isAhead({ expires }: Position, upTo: bigint): boolean {
  return expires > upTo + clockToleranceSeconds;
}

/** The first rows, at least one, within the size of a page. */
function withinSize<Row extends { readonly size: bigint }>(rows: readonly Row[]): readonly Row[] {
  let bytes = 0;
  const end = rows.findIndex(({ size }, index) => {
    bytes += Number(size);
    return index > 0 && bytes > maxPageBytes;
  });
  return end < 0 ? rows : rows.slice(0, end);
}
