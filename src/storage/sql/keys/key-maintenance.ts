import { setImmediate as nextIteration } from 'node:timers/promises';
import type { DiscardOutcome, IntegrityReport, KeyStore } from '../../../keys/ports.js';
import type { StoredKey } from '../../../keys/key.js';
import { noticeOf } from '../../../keys/notices.js';
import type { RowSigner } from '../../../crypto/row-signer.js';
import { pageFromContent, pageName, prefixOf, purgedName, type PurgedKey } from '../../records/checkpoint.js';
import { createHeads } from '../heads.js';
import {
  keyFromRow,
  identifierRowsOf,
  keyTable,
  termsOf,
  type StoredKeyRow,
  revisionTable,
  type RevisionRow,
} from '../../records/key-records.js';
import { createSignedTable, type SignedRow } from '../../records/signed.js';
import type { Dialect } from '../dialect.js';
import { createNoticeRows } from './notices.js';
import { createChain, spanItem } from './history-entries.js';
import { readPages } from '../pages.js';
import { beforeAllKeys, isKeyHash, placeOf, placesOf } from '../place.js';
import { entrySize, isOfLostKey, rowTexts, walk } from '../rows.js';
import { prepared, query, type SqlSession, type Work } from '../session.js';

const scanPageSize = 500;
const verifiedAtOnce = 20;
const entriesAtOnce = 100;

/** How much one transaction of a purge removes: keys, and bytes of them with their histories. One key may have more. */
const maxPurged = 100;
const maxPurgedBytes = 1024 * 1024;
/** Removing the use of a key by day takes about as long as so many bytes: it looks each day up. */
const bytesOfUse = 64 * 1024;

const statements = (dialect: Dialect) => {
  const { hashes, hexOf, inList, isOfHash, forUpdate } = dialect;
  const { keyColumns, entryColumns } = rowTexts(dialect);
  const selectKeys = `SELECT ${keyColumns} FROM keys k`;
  const walked = walk(dialect, dialect.historySpans('$1'));
  const byHash = `${selectKeys} WHERE ${isOfHash('$1', '$2')}`;
  return {
    page: prepared(`${selectKeys} WHERE k.id > $1 ORDER BY k.id LIMIT $2`),
    byIDs: prepared(`${selectKeys} WHERE k.id ${inList('$1', 'bigint')} ORDER BY k.id`),
    byIDForUpdate: prepared(`${selectKeys} WHERE k.id = $1 ${forUpdate('k')}`),
    byHashForUpdate: prepared(`${byHash} ${forUpdate('k')}`),
    entries: prepared(
      `${walked} SELECT ${entryColumns} FROM walk w CROSS JOIN history h
       WHERE w.version BETWEEN w.first AND w.newest AND h.id = w.id ORDER BY w.version`,
    ),
    terms: prepared(
      `SELECT t.name FROM terms t CROSS JOIN key_terms n WHERE t.name ${inList('$1', 'text')} AND n.term = t.id AND n.key = $2
         AND n.org = (SELECT id FROM orgs WHERE name = $3)`,
    ),
    identifiers: prepared(
      `SELECT ${hexOf('i.key_hash')} AS hash, i.retires FROM ${hashes('$1')} AS w CROSS JOIN identifiers i
       WHERE i.key_hash = ${dialect.bytesOf('w.hash')} AND i.key = $2`,
    ),
    withoutKey: prepared(
      `SELECT DISTINCT ${hexOf('h.key_hash')} AS key_hash FROM history h
       WHERE h.version > 0 AND NOT EXISTS (SELECT 1 FROM keys k WHERE k.id = h.key)`,
    ),
    lost: prepared(
      `SELECT h.key FROM ${hashes('$1')} AS w CROSS JOIN history h WHERE ${isOfLostKey(dialect, 'w.hash', 'w.place')} LIMIT 1`,
    ),
    deletedBefore: prepared(
      `SELECT deleted, id FROM keys WHERE deleted < $1 AND (deleted, id) > ($2, ${dialect.rowID('$3')}) ORDER BY deleted, id LIMIT 500`,
    ),
    sizeWithHistory: prepared(
      `${walked} SELECT CAST(
         coalesce((SELECT sum(${entrySize}) FROM walk w CROSS JOIN history h WHERE h.id = w.id), 0)
         + coalesce((SELECT octet_length(definition) FROM keys WHERE id = $2), 0) AS bigint) AS size`,
    ),
    removeEntries: prepared(`DELETE FROM history WHERE id IN (${walked} SELECT id FROM walk)`),
    dropTerms: prepared(
      `DELETE FROM key_terms WHERE term IN (SELECT id FROM terms WHERE name ${inList('$1', 'text')}) AND key = $2`,
    ),
    removeIdentifiers: prepared(
      `DELETE FROM identifiers WHERE key = $2 AND key_hash IN (SELECT ${dialect.bytesOf('w.hash')} FROM ${hashes('$1')} AS w)`,
    ),
    removeQuotaChanges: prepared('DELETE FROM quota_changes WHERE key_hash = $1'),
    removeKey: prepared('DELETE FROM keys WHERE id = $1'),
    // Of one aggregate, SQLite reads the end of the index; of two in one query, it reads the whole table.
    usedDays: prepared('SELECT (SELECT min(day) FROM key_days) AS first, (SELECT max(day) FROM key_days) AS last'),
    removeUses: prepared(`DELETE FROM key_days WHERE day ${inList('$1', 'bigint')} AND key = $2`),
    // Without an index on the key in SQLite, these read the whole tables.
    dropAllTerms: prepared('DELETE FROM key_terms WHERE key = $1'),
    removeAllEntries: prepared('DELETE FROM history WHERE key = $1'),
    removeAllIdentifiers: prepared('DELETE FROM identifiers WHERE key = $1'),
  };
};

interface DeletedKey {
  readonly deleted: bigint;
  readonly id: bigint;
}

type Maintenance = Pick<KeyStore, 'all' | 'discard' | 'purge' | 'verifyIntegrity'>;

/** The operations of a key store that go through all keys, and the removal of damaged ones. */
export function createKeyMaintenance(session: SqlSession, signer: RowSigner, onChange: () => void): Maintenance {
  const { dialect, all, transaction, snapshot } = session;
  const sql = statements(dialect);
  const keys = createSignedTable(signer, keyTable);
  const revisions = createSignedTable(signer, revisionTable);
  const heads = createHeads(session, signer);
  const addNotices = createNoticeRows(session, signer);

  /** Marks a key as purged, so that a checkpoint which has its state does not report it as missing. */
  const addMark = (key: PurgedKey) => heads.add({ name: purgedName(key), sequence: 1n, content: '' });

  const pages = (size: number) => readPages<StoredKeyRow>((last) => all(sql.page, [last?.id ?? beforeAllKeys, size]));

  /** Everything that belongs to a row is compared with the row, which is possible only when the row is intact. */
  function* verify(row: StoredKeyRow): Work<IntegrityReport> {
    const keyHash = row.key_hash;
    const damaged = { keyHash, exists: true, key: undefined, isHistoryIntact: true, isIndexed: true };
    if (!keys.isAuthentic(row)) return damaged;
    const key = keyFromRow(row);
    const chain = createChain(revisions.isAuthentic);
    for (let first = 1; first <= key.version; first += entriesAtOnce) {
      const newest = Math.min(first + entriesAtOnce - 1, key.version);
      const span = JSON.stringify([spanItem(keyHash, { first, newest })]);
      const page = yield* query<SignedRow<RevisionRow>>(sql.entries, [span]);
      for (const entry of page) chain.add(entry);
      if (page.length === 0) break;
    }
    const terms = [...termsOf(key)];
    const found = yield* query(sql.terms, [terms, row.id, key.orgID]);
    return {
      ...damaged,
      key,
      isHistoryIntact: chain.endsAt(row),
      isIndexed: found.length === terms.length && (yield* hasIdentifiers(key, row.id)),
    };
  }

  /** Whether the index has all identifiers of a key. It may have others, which the row of the key does not confirm. */
  function* hasIdentifiers(key: StoredKey, id: bigint): Work<boolean> {
    const wanted = identifierRowsOf(key);
    if (wanted.length === 0) return true;
    const found = yield* query<{ hash: string; retires: bigint | null }>(sql.identifiers, [
      placesOf(wanted.map(({ keyHash }) => keyHash)),
      id,
    ]);
    const retires = new Map(found.map((row) => [row.hash, row.retires]));
    return wanted.every((one) => retires.get(one.keyHash) === one.retires);
  }

  /** Removes the use of a key by day: another key may get its row. The key is locked, so that no day is added meanwhile. */
  function* removeUses(id: bigint): Work<void> {
    const [days] = yield* query<{ first: bigint | null; last: bigint | null }>(sql.usedDays);
    if (!days || days.first === null || days.last === null) return;
    const { first, last } = days;
    const list = Array.from({ length: Number(last - first) + 1 }, (_, index) => first + BigInt(index));
    yield* query(sql.removeUses, [list, id]);
  }

  /** Removes at least one key, and as many as fit one short transaction. */
  function* purgePart(ids: readonly bigint[], moment: bigint, at: Date): Work<{ seen: number; purged: number }> {
    let bytes = 0;
    let seen = 0;
    let purged = 0;
    for (const id of ids.slice(0, maxPurged)) {
      const [row] = yield* query<StoredKeyRow>(sql.byIDForUpdate, [id]);
      // A key may have been restored since. Damaged rows stay for an operator to inspect: the date may be damaged.
      const isPurged = row && row.deleted !== null && row.deleted < moment && keys.isAuthentic(row);
      if (isPurged) {
        const { key_hash: keyHash } = row;
        const span = JSON.stringify([spanItem(keyHash, { first: 1, newest: Number(row.version) })]);
        const [found] = yield* query<{ size: bigint }>(sql.sizeWithHistory, [span, id]);
        bytes += Number(found?.size ?? 0n) + (row.last_used > 0n ? bytesOfUse : 0);
        if (seen > 0 && bytes > maxPurgedBytes) break;
        const key = keyFromRow(row);
        const terms = [...termsOf(key)];
        const hashes = identifierRowsOf(key).map((one) => one.keyHash);
        if (terms.length > 0) yield* query(sql.dropTerms, [terms, id]);
        if (hashes.length > 0) yield* query(sql.removeIdentifiers, [placesOf(hashes), id]);
        yield* query(sql.removeEntries, [span]);
        yield* query(sql.removeQuotaChanges, [Buffer.from(keyHash, 'hex')]);
        if (row.last_used > 0n) yield* removeUses(id);
        yield* query(sql.removeKey, [id]);
        yield* addNotices([noticeOf(key, 'purged', at, [])]);
        yield* addMark({ keyHash, identity: Buffer.from(row.identity).toString('hex') });
        purged += 1;
      }
      seen += 1;
    }
    return { seen, purged };
  }

  function* discard(keyHash: string): Work<DiscardOutcome> {
    const [row] = yield* query<StoredKeyRow>(sql.byHashForUpdate, [keyHash, placeOf(keyHash)]);
    if (row && keys.isAuthentic(row)) return 'intact';
    const id = row?.id ?? (yield* query<{ key: bigint }>(sql.lost, [placesOf([keyHash])]))[0]?.key;
    if (id === undefined) return 'absent';
    // A damaged row does not show which terms and entries it had.
    yield* query(sql.dropAllTerms, [id]);
    yield* query(sql.removeAllEntries, [id]);
    yield* query(sql.removeAllIdentifiers, [id]);
    yield* query(sql.removeQuotaChanges, [Buffer.from(keyHash, 'hex')]);
    yield* removeUses(id);
    yield* query(sql.removeKey, [id]);
    // The purge mark needs the identity, which the checkpoint has.
    const page = yield* heads.read(pageName(prefixOf(keyHash)));
    const states = page && heads.isAuthentic(page) ? pageFromContent(page.content) : [];
    const state = states.find((one) => one.keyHash === keyHash);
    if (state) yield* addMark(state);
    return 'discarded';
  }

  return {
    async *all() {
      for await (const rows of pages(scanPageSize)) {
        for (const row of rows) {
          yield { keyHash: row.key_hash, key: keys.isAuthentic(row) ? keyFromRow(row) : undefined };
        }
      }
    },
    discard: async (keyHash) => (isKeyHash(keyHash) ? transaction(() => discard(keyHash)) : 'absent'),
    async purge(moment, at = new Date()) {
      const before = BigInt(moment.getTime());
      let purged = 0;
      const found = readPages<DeletedKey>((last) =>
        all(sql.deletedBefore, [before, last?.deleted ?? -(2n ** 63n), last?.id ?? beforeAllKeys]),
      );
      for await (const page of found) {
        for (let from = 0; from < page.length;) {
          const rest = page.slice(from).map(({ id }) => id);
          const part = await transaction(() => purgePart(rest, before, at));
          purged += part.purged;
          from += part.seen;
          await nextIteration();
        }
      }
      if (purged > 0) onChange();
      return purged;
    },
    async *verifyIntegrity() {
      for await (const rows of pages(verifiedAtOnce)) {
        const ids = rows.map(({ id }) => id);
        // Read again in one snapshot with all that belongs to the keys: services may write meanwhile.
        yield* await snapshot(function* () {
          const reports: IntegrityReport[] = [];
          for (const row of yield* query<StoredKeyRow>(sql.byIDs, [ids])) reports.push(yield* verify(row));
          return reports;
        });
      }
      for (const { key_hash: keyHash } of await all<{ key_hash: string }>(sql.withoutKey)) {
        yield { keyHash, exists: false, key: undefined, isHistoryIntact: false, isIndexed: true };
      }
    },
  };
}
