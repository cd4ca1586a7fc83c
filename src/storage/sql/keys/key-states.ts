import { setImmediate as nextIteration } from 'node:timers/promises';
import type { RowSigner } from '../../../crypto/row-signer.js';
import { purgedName, type KeyHead, type KeyRollback } from '../../records/checkpoint.js';
import { createHeads } from '../heads.js';
import { keyTable, type KeyRow } from '../../records/key.js';
import { revisionTable, type RevisionRow } from '../../records/revision.js';
import { createSignedTable, dateOf, type SignedRow } from '../../records/signed.js';
import { batchesBySize, readPages, type SizedKey } from '../pages.js';
import { prepared, query, type SqlSession, type Work } from '../session.js';

const pageSize = 200;
/** The maximum size of rows that are read at once; one row may be larger. Verifying so much takes a few milliseconds. */
const maxBytesAtOnce = 256 * 1024;

/** Reads states of keys, and compares the database with earlier ones. */
export function createKeyStates(session: SqlSession, signer: RowSigner) {
  const { dialect, all } = session;
  const keys = createSignedTable(signer, keyTable);
  const revisions = createSignedTable(signer, revisionTable);
  const heads = createHeads(session, signer);
  const page = prepared(
    `SELECT key_hash, CAST(octet_length(definition) AS bigint) AS size FROM keys
     WHERE key_hash > $1 ORDER BY key_hash LIMIT ${pageSize}`,
  );
  const byHashes = prepared(`SELECT * FROM keys WHERE key_hash ${dialect.inList('$1', 'text')}`);
  const scan = prepared(
    `SELECT *, EXISTS (SELECT 1 FROM audit WHERE audit.key_hash = keys.key_hash AND version_after = keys.version) AS has_entry
     FROM keys WHERE key_hash ${dialect.inList('$1', 'text')}`,
  );
  const entryAt = prepared('SELECT * FROM audit WHERE key_hash = $1 AND version_after = $2');
  const resetSince = prepared(
    'SELECT 1 FROM audit WHERE key_hash = $1 AND version_after > $2 AND quota_used_before_reset IS NOT NULL LIMIT 1',
  );

  function* rollbackOf(head: KeyHead, row: SignedRow<KeyRow> | undefined): Work<KeyRollback | undefined> {
    const { keyHash, version } = head;
    // Damaged rows are reported by `verifyIntegrity`.
    if (row && !keys.isAuthentic(row)) return undefined;
    if (row?.date_created !== head.dateCreated) {
      const mark = yield* heads.read(purgedName(head));
      return mark && heads.isAuthentic(mark) ? undefined : { head, kind: row ? 'replaced' : 'missing' };
    }
    if (row.version < BigInt(version)) return { head, kind: 'older', version: Number(row.version) };
    const [entry] = yield* query<SignedRow<RevisionRow>>(entryAt, [keyHash, BigInt(version)]);
    const isSameEntry = entry && revisions.isAuthentic(entry) && textOf(entry.link).startsWith(head.link);
    if (!isSameEntry) return { head, kind: 'history' };
    // In one period, a count only grows until it is reset.
    const isSamePeriod = (row.quota_renews ?? undefined) === head.quotaRenews;
    if (isSamePeriod ? row.quota_used >= head.quotaUsed : isRenewed(head, row)) return undefined;
    const resets = yield* query(resetSince, [keyHash, BigInt(version)]);
    return resets.length > 0 ? undefined : { head, kind: 'quota', quotaUsed: row.quota_used };
  }

  /**
   * Yields all keys after this hash, in the order of their hashes and in parts. The state of a row that fails the integrity
   * check is undefined.
   */
  async function* statesAfter(keyHash: string): AsyncIterable<readonly ScannedState[]> {
    for await (const listed of readPages<SizedKey>((last) => all(page, [last?.key_hash ?? keyHash]))) {
      for (const part of batchesBySize(listed, maxBytesAtOnce)) {
        const rows = await all<StateRow>(scan, [part.map((key) => key.key_hash)]);
        const found = new Map(rows.map((row) => [row.key_hash, row]));
        yield part.flatMap(({ key_hash: hash, size }) => {
          const row = found.get(hash);
          if (!row) return [];
          const state = keys.isAuthentic(row) ? headOf(row) : undefined;
          return [{ keyHash: hash, size, state, hasEntry: Boolean(row.has_entry) }];
        });
        await nextIteration();
      }
    }
  }

  function* rollbacksOf(states: readonly KeyHead[]): Work<KeyRollback[]> {
    const found = yield* query<SignedRow<KeyRow>>(byHashes, [states.map(({ keyHash }) => keyHash)]);
    const rows = new Map(found.map((row) => [row.key_hash, row]));
    const rollbacks: KeyRollback[] = [];
    for (const head of states) {
      const rollback = yield* rollbackOf(head, rows.get(head.keyHash));
      if (rollback) rollbacks.push(rollback);
    }
    return rollbacks;
  }

  return { statesAfter, rollbacksOf };
}

/** The engines differ in the type of a condition. */
type StateRow = SignedRow<KeyRow> & { readonly has_entry: boolean | bigint };

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

function headOf(row: KeyRow): KeyHead {
  return {
    keyHash: row.key_hash,
    dateCreated: row.date_created,
    version: Number(row.version),
    link: textOf(row.history_link),
    quotaUsed: row.quota_used,
    quotaRenews: row.quota_renews ?? undefined,
    deleted: dateOf(row.deleted),
  };
}
