import { setImmediate as nextIteration } from 'node:timers/promises';
import type { DiscardOutcome, IntegrityReport, KeyStore } from '../../../keys/ports.js';
import type { RowSigner } from '../../../crypto/row-signer.js';
import { pageFromContent, pageName, prefixOf, purgedName, type PurgedKey } from '../../records/checkpoint.js';
import { createHeads } from '../heads.js';
import { keyFromRow, keyTable, termsOf, type KeyRow } from '../../records/key.js';
import { revisionTable, type RevisionRow } from '../../records/revision.js';
import { createSignedTable, type SignedRow } from '../../records/signed.js';
import type { Dialect } from '../dialect.js';
import { createChain, entrySize } from './history-entries.js';
import { readPages } from '../pages.js';
import { prepared, query, type SqlSession, type Work } from '../session.js';

const scanPageSize = 500;
const verifiedAtOnce = 20;

/** How much one transaction of a purge removes: keys, and bytes of them with their histories. One key may have more. */
const maxPurged = 100;
const maxPurgedBytes = 1024 * 1024;

const statements = ({ inList, forUpdate }: Dialect) => ({
  page: prepared('SELECT * FROM keys WHERE key_hash > $1 ORDER BY key_hash LIMIT $2'),
  byHashes: prepared(`SELECT * FROM keys WHERE key_hash ${inList('$1', 'text')} ORDER BY key_hash`),
  byHashesForUpdate: prepared(
    `SELECT * FROM keys WHERE key_hash ${inList('$1', 'text')} ORDER BY key_hash ${forUpdate}`,
  ),
  entries: prepared('SELECT * FROM audit WHERE key_hash = $1 AND version_after > $2 ORDER BY version_after LIMIT 100'),
  terms: prepared(`SELECT term FROM key_terms WHERE term ${inList('$1', 'text')} AND key_hash = $2 AND org_id = $3`),
  withoutKey: prepared(
    'SELECT DISTINCT key_hash FROM audit a WHERE NOT EXISTS (SELECT 1 FROM keys k WHERE k.key_hash = a.key_hash)',
  ),
  hasHistory: prepared('SELECT 1 FROM audit WHERE key_hash = $1 LIMIT 1'),
  deletedBefore: prepared(
    `SELECT deleted, key_hash FROM keys WHERE deleted < $1 AND (deleted, key_hash) > ($2, $3)
     ORDER BY deleted, key_hash LIMIT 500`,
  ),
  sizeWithHistory: prepared(
    `SELECT CAST(octet_length(definition) + (
       SELECT coalesce(sum(${entrySize}), 0) FROM audit a WHERE a.key_hash = k.key_hash
     ) AS bigint) AS size FROM keys k WHERE key_hash = $1`,
  ),
  dropTerms: prepared(`DELETE FROM key_terms WHERE term ${inList('$1', 'text')} AND key_hash = $2`),
  // Without an index on the key in SQLite, this reads the whole table.
  dropAllTerms: prepared('DELETE FROM key_terms WHERE key_hash = $1'),
  remove: ['audit', 'quota_changes', 'keys'].map((table) => prepared(`DELETE FROM ${table} WHERE key_hash = $1`)),
});

interface DeletedKey {
  readonly deleted: bigint;
  readonly key_hash: string;
}

type Maintenance = Pick<KeyStore, 'all' | 'discard' | 'purge' | 'verifyIntegrity'>;

/** The operations of a key store that go through all keys, and the removal of damaged ones. */
export function createKeyMaintenance(session: SqlSession, signer: RowSigner): Maintenance {
  const { dialect, all, transaction, snapshot } = session;
  const sql = statements(dialect);
  const keys = createSignedTable(signer, keyTable);
  const revisions = createSignedTable(signer, revisionTable);
  const heads = createHeads(session, signer);

  /** Marks a key as purged, so that a checkpoint which has its state does not report it as missing. */
  const addMark = (key: PurgedKey) => heads.add({ name: purgedName(key), sequence: 1n, content: '' });

  const pages = (size: number) => readPages<SignedRow<KeyRow>>((last) => all(sql.page, [last?.key_hash ?? '', size]));

  /** Everything that belongs to a row is compared with the row, which is possible only when the row is intact. */
  function* verify(row: SignedRow<KeyRow>): Work<IntegrityReport> {
    const keyHash = row.key_hash;
    const damaged = { keyHash, exists: true, key: undefined, isHistoryIntact: true, isIndexed: true };
    if (!keys.isAuthentic(row)) return damaged;
    const key = keyFromRow(row);
    const chain = createChain(revisions.isAuthentic);
    for (let after: bigint | undefined = 0n; after !== undefined;) {
      const page: readonly SignedRow<RevisionRow>[] = yield* query<SignedRow<RevisionRow>>(sql.entries, [
        keyHash,
        after,
      ]);
      for (const entry of page) chain.add(entry);
      after = page.at(-1)?.version_after;
    }
    const terms = [...termsOf(key)];
    const found = yield* query(sql.terms, [terms, keyHash, key.orgID]);
    return {
      ...damaged,
      key,
      isHistoryIntact: chain.endAt(row)?.definition === row.definition,
      isIndexed: found.length === terms.length,
    };
  }

  /** Removes at least one key, and as many as fit one short transaction. */
  function* purgePart(keyHashes: readonly string[], moment: bigint): Work<{ seen: number; purged: number }> {
    let bytes = 0;
    let seen = 0;
    let purged = 0;
    for (const keyHash of keyHashes.slice(0, maxPurged)) {
      const [found] = yield* query<{ size: bigint }>(sql.sizeWithHistory, [keyHash]);
      bytes += Number(found?.size ?? 0n);
      if (seen > 0 && bytes > maxPurgedBytes) break;
      seen += 1;
      const [row] = yield* query<SignedRow<KeyRow>>(sql.byHashesForUpdate, [[keyHash]]);
      // A key may have been restored since. Damaged rows stay for an operator to inspect: the date may be damaged.
      if (!row || row.deleted === null || row.deleted >= moment || !keys.isAuthentic(row)) continue;
      const terms = [...termsOf(keyFromRow(row))];
      if (terms.length > 0) yield* query(sql.dropTerms, [terms, keyHash]);
      for (const statement of sql.remove) yield* query(statement, [keyHash]);
      yield* addMark({ keyHash, dateCreated: row.date_created });
      purged += 1;
    }
    return { seen, purged };
  }

  function* discard(keyHash: string): Work<DiscardOutcome> {
    const [row] = yield* query<SignedRow<KeyRow>>(sql.byHashesForUpdate, [[keyHash]]);
    if (row && keys.isAuthentic(row)) return 'intact';
    if (!row && (yield* query(sql.hasHistory, [keyHash])).length === 0) return 'absent';
    // A damaged row does not show which terms it had.
    yield* query(sql.dropAllTerms, [keyHash]);
    for (const statement of sql.remove) yield* query(statement, [keyHash]);
    // The purge mark needs the creation date, which the checkpoint has.
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
    discard: (keyHash) => transaction(() => discard(keyHash)),
    async purge(moment) {
      const before = BigInt(moment.getTime());
      let purged = 0;
      const found = readPages<DeletedKey>((last) =>
        all(sql.deletedBefore, [before, last?.deleted ?? -(2n ** 63n), last?.key_hash ?? '']),
      );
      for await (const page of found) {
        for (let from = 0; from < page.length;) {
          const rest = page.slice(from).map(({ key_hash }) => key_hash);
          const part = await transaction(() => purgePart(rest, before));
          purged += part.purged;
          from += part.seen;
          await nextIteration();
        }
      }
      return purged;
    },
    async *verifyIntegrity() {
      for await (const rows of pages(verifiedAtOnce)) {
        const hashes = rows.map(({ key_hash }) => key_hash);
        // Read again in one snapshot with all that belongs to the keys: services may write meanwhile.
        yield* await snapshot(function* () {
          const reports: IntegrityReport[] = [];
          for (const row of yield* query<SignedRow<KeyRow>>(sql.byHashes, [hashes])) reports.push(yield* verify(row));
          return reports;
        });
      }
      for (const { key_hash: keyHash } of await all<{ key_hash: string }>(sql.withoutKey)) {
        yield { keyHash, exists: false, key: undefined, isHistoryIntact: false, isIndexed: true };
      }
    },
  };
}
