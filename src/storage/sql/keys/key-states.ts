import { setImmediate as nextIteration } from 'node:timers/promises';
import type { RowSigner } from '../../../crypto/row-signer.js';
import { purgedName, type KeyHead, type KeyRollback } from '../../records/checkpoint.js';
import { createHeads } from '../heads.js';
import {
  keyTable,
  type KeyRow,
  type StoredKeyRow,
  revisionTable,
  type RevisionRow,
} from '../../records/key-records.js';
import { createSignedTable, dateOf, type SignedRow } from '../../records/signed.js';
import { batchesBySize, readPages, type SizedKey } from '../pages.js';
import { isKeyHash, placeOf, placesOf } from '../place.js';
import { rowTexts, walk } from '../rows.js';
import { prepared, query, type SqlSession, type Work } from '../session.js';
import { spanItem } from './history-entries.js';

const pageSize = 200;
/** The maximum size of rows that are read at once; one row may be larger. Verifying so much takes a few milliseconds. */
const maxBytesAtOnce = 256 * 1024;

/** Reads states of keys, and compares the database with earlier ones. */
export function createKeyStates(session: SqlSession, signer: RowSigner) {
  const { dialect, all } = session;
  const keys = createSignedTable(signer, keyTable);
  const revisions = createSignedTable(signer, revisionTable);
  const heads = createHeads(session, signer);
  const { keyColumns, entryColumns } = rowTexts(dialect);
  const page = prepared(
    `SELECT id, CAST(octet_length(definition) AS bigint) AS size FROM keys WHERE id > $1 ORDER BY id LIMIT ${pageSize}`,
  );
  const scan = prepared(
    `SELECT ${keyColumns},
       EXISTS (SELECT 1 FROM history h WHERE h.id = k.head AND h.key = k.id AND h.version = k.version) AS has_entry
     FROM keys k WHERE k.id ${dialect.inList('$1', 'bigint')}`,
  );
  const byHashes = prepared(
    `SELECT ${keyColumns} FROM ${dialect.hashes('$1')} AS w CROSS JOIN keys k
     WHERE ${dialect.isOfHash('w.hash', 'w.place')}`,
  );
  const walked = walk(dialect, dialect.historySpans('$1'));
  const entries = prepared(
    `${walked} SELECT ${entryColumns} FROM walk w CROSS JOIN history h WHERE w.version BETWEEN w.first AND w.newest AND h.id = w.id`,
  );
  const resets = prepared(
    `${walked} SELECT 1 FROM walk w CROSS JOIN history h
     WHERE w.version BETWEEN w.first AND w.newest AND h.id = w.id AND h.quota_used_before_reset IS NOT NULL LIMIT 1`,
  );
  const spanText = (keyHash: string, first: number, newest: number) =>
    JSON.stringify([spanItem(keyHash, { first, newest })]);

  function* rollbackOf(head: KeyHead, row: SignedRow<KeyRow> | undefined): Work<KeyRollback | undefined> {
    const { keyHash, version } = head;
    // Damaged rows are reported by `verifyIntegrity`.
    if (row && !keys.isAuthentic(row)) return undefined;
    if (!row || textOfIdentity(row) !== head.identity) {
      const mark = yield* heads.read(purgedName(head));
      return mark && heads.isAuthentic(mark) ? undefined : { head, kind: row ? 'replaced' : 'missing' };
    }
    if (row.version < BigInt(version)) return { head, kind: 'older', version: Number(row.version) };
    const [entry] = yield* query<SignedRow<RevisionRow>>(entries, [spanText(keyHash, version, version)]);
    const isSameEntry = entry && revisions.isAuthentic(entry) && textOf(entry.link).startsWith(head.link);
    if (!isSameEntry) return { head, kind: 'history' };
    // In one period, a count only grows until it is reset.
    const isSamePeriod = (row.quota_renews ?? undefined) === head.quotaRenews;
    if (isSamePeriod ? row.quota_used >= head.quotaUsed : isRenewed(head, row)) return undefined;
    const found = yield* query(resets, [spanText(keyHash, version + 1, Number(row.version))]);
    return found.length > 0 ? undefined : { head, kind: 'quota', quotaUsed: row.quota_used };
  }

  /**
   * Yields all keys from this beginning of a hash on, in the order of their hashes and in parts. The state of a row that fails the integrity
   * check is undefined.
   */
  async function* statesFrom(prefix: string): AsyncIterable<readonly ScannedState[]> {
    for await (const listed of readPages<SizedKey>((last) => all(page, [last?.id ?? placeOf(prefix) - 1n]))) {
      for (const part of batchesBySize(listed, maxBytesAtOnce)) {
        const rows = await all<StateRow>(scan, [part.map(({ id }) => id)]);
        const found = new Map(rows.map((row) => [row.id, row]));
        yield part.flatMap(({ id, size }) => {
          const row = found.get(id);
          if (!row) return [];
          const state = keys.isAuthentic(row) ? headOf(row) : undefined;
          return [{ keyHash: row.key_hash, size, state, hasEntry: Boolean(row.has_entry) }];
        });
        await nextIteration();
      }
    }
  }

  function* rollbacksOf(states: readonly KeyHead[]): Work<KeyRollback[]> {
    const hashes = states.map(({ keyHash }) => keyHash).filter(isKeyHash);
    const found = yield* query<SignedRow<KeyRow>>(byHashes, [placesOf(hashes)]);
    const rows = new Map(found.map((row) => [row.key_hash, row]));
    const rollbacks: KeyRollback[] = [];
    for (const head of states) {
      const rollback = yield* rollbackOf(head, rows.get(head.keyHash));
      if (rollback) rollbacks.push(rollback);
    }
    return rollbacks;
  }

  return { statesFrom, rollbacksOf };
}

/** The engines differ in the type of a condition. */
type StateRow = StoredKeyRow & { readonly has_entry: boolean | bigint };

/** The state of one key. */
export interface ScannedState {
  readonly keyHash: string;
  /** The size of its definition, in bytes. */
  readonly size: bigint;
  readonly state: KeyHead | undefined;
  /** Whether the history has the entry of its version. */
  readonly hasEntry: boolean;
}

/** Whether the period of a quota can have followed that of an earlier state. Updates and resets begin one at any time. */
function isRenewed({ version, quotaRenews }: KeyHead, row: KeyRow): boolean {
  if (quotaRenews === undefined || row.version > BigInt(version)) return true;
  return (row.quota_renews ?? 0n) > quotaRenews;
}

const textOf = (link: Uint8Array) => Buffer.from(link).toString('base64url');
const textOfIdentity = ({ identity }: KeyRow) => Buffer.from(identity).toString('hex');

function headOf(row: KeyRow): KeyHead {
  return {
    keyHash: row.key_hash,
    identity: textOfIdentity(row),
    version: Number(row.version),
    link: textOf(row.history_link),
    quotaUsed: row.quota_used,
    quotaRenews: row.quota_renews ?? undefined,
    deleted: dateOf(row.deleted),
  };
}
