import type { RowSigner } from '../../../crypto/row-signer.js';
import type { KeyHead, KeyRollback, KeyStore } from '../../../keys/ports.js';
import { keyLayouts, type KeyRow } from '../../records/key.js';
import { revisionLayouts, type RevisionRow } from '../../records/revision.js';
import { createSignedTable, type SignedRow } from '../../records/signed.js';
import { prepared, query, type SqlSession, type Work } from '../session.js';

const pageSize = 200;

/** States of keys that are published outside of the database, and the comparison of the database with them. */
export function createKeyHeads(
  { dialect: { inList }, all, snapshot }: SqlSession,
  signer: RowSigner,
): Pick<KeyStore, 'heads' | 'compareHeads'> {
  const keys = createSignedTable<KeyRow>(signer, 'keys', keyLayouts);
  const revisions = createSignedTable<RevisionRow>(signer, 'audit', revisionLayouts);
  const page = prepared(`SELECT * FROM keys WHERE key_hash > $1 ORDER BY key_hash LIMIT ${pageSize}`);
  const byHashes = prepared(`SELECT * FROM keys WHERE key_hash ${inList('$1', 'text')}`);
  const entryAt = prepared('SELECT * FROM audit WHERE key_hash = $1 AND version_after = $2');
  const resetSince = prepared(
    'SELECT 1 FROM audit WHERE key_hash = $1 AND version_after > $2 AND quota_used_before_reset IS NOT NULL LIMIT 1',
  );

  function* rollbackOf(head: KeyHead, row: SignedRow<KeyRow> | undefined): Work<KeyRollback | undefined> {
    const { keyHash, version } = head;
    if (!row) return { head, kind: 'missing' };
    // Damaged rows are reported by `verifyIntegrity`.
    if (!keys.isAuthentic(row)) return undefined;
    if (row.date_created !== head.dateCreated) return { head, kind: 'replaced' };
    if (row.version < BigInt(version)) return { head, kind: 'older', version: Number(row.version) };
    const [entry] = yield* query<SignedRow<RevisionRow>>(entryAt, [keyHash, BigInt(version)]);
    if (!entry || !revisions.isAuthentic(entry) || textOf(entry.link) !== head.link) return { head, kind: 'history' };
    // In one period, a count only grows until it is reset.
    const isSamePeriod = (row.quota_renews ?? undefined) === head.quotaRenews;
    if (!isSamePeriod || row.quota_used >= head.quotaUsed) return undefined;
    const resets = yield* query(resetSince, [keyHash, BigInt(version)]);
    return resets.length > 0 ? undefined : { head, kind: 'quota', quotaUsed: row.quota_used };
  }

  return {
    async *heads() {
      for (let last: string | undefined = ''; last !== undefined;) {
        const rows: readonly SignedRow<KeyRow>[] = await all<SignedRow<KeyRow>>(page, [last]);
        for (const row of rows) {
          if (!keys.isAuthentic(row)) throw keys.integrityError(`The key ${row.key_hash}`, row);
          yield headOf(row);
        }
        last = rows.at(-1)?.key_hash;
      }
    },
    compareHeads: (heads) =>
      snapshot(function* () {
        const found = yield* query<SignedRow<KeyRow>>(byHashes, [heads.map(({ keyHash }) => keyHash)]);
        const rows = new Map(found.map((row) => [row.key_hash, row]));
        const rollbacks: KeyRollback[] = [];
        for (const head of heads) {
          const rollback = yield* rollbackOf(head, rows.get(head.keyHash));
          if (rollback) rollbacks.push(rollback);
        }
        return rollbacks;
      }),
  };
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
    deleted: row.deleted === null ? undefined : new Date(Number(row.deleted)),
  };
}
