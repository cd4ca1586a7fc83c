import type { RowSigner } from '../../crypto/row-signer.js';
import { keyLayouts, type KeyRow } from '../records/key.js';
import { createSignedTable, integrityError, type SignedRow } from '../records/signed.js';
import { prepared } from '../sql/session.js';
import { type Session } from './pool.js';
import { isBindableText } from '../sql/dialect.js';

/** The result for a hash: a row or none, and whether a history without its row exists. */
type FoundKeyRow = { readonly wanted: string; readonly is_lost: boolean } & (
  SignedRow<KeyRow> | { readonly [column in keyof SignedRow<KeyRow>]: null }
);

// One statement reads one snapshot, in which a key without a row has no history, unless another writer removed the row.
// The row of a key that moved to another organisation is there, and its first history entry names the former one.
const select = prepared(
  `SELECT wanted.hash AS wanted, k.*,
     CASE WHEN k.key_hash IS NULL THEN EXISTS (
       SELECT FROM (SELECT org_id FROM audit a WHERE a.key_hash = wanted.hash ORDER BY version_after LIMIT 1) AS first
       WHERE $2::text IS NULL OR first.org_id = $2 AND NOT EXISTS (SELECT FROM keys other WHERE other.key_hash = wanted.hash)
     ) ELSE false END AS is_lost
   FROM unnest($1::text[]) AS wanted (hash)
     LEFT JOIN keys k ON k.key_hash = wanted.hash AND ($2::text IS NULL OR k.org_id = $2)`,
);
const lock = prepared('SELECT key_hash FROM keys WHERE key_hash = ANY ($1::text[]) ORDER BY key_hash FOR UPDATE');

export interface FoundKey {
  /** The organisation of the row, not verified; undefined when there is none. */
  readonly orgID: string | undefined;
  /** The row, verified. Throws INTERNAL when it is damaged, or is missing although it has a history. */
  readonly read: () => SignedRow<KeyRow> | undefined;
}

/** Reads and verifies the rows of keys. */
export function createKeyRows(signer: RowSigner) {
  const table = createSignedTable<KeyRow>(signer, 'keys', keyLayouts);

  function authentic(row: SignedRow<KeyRow>): SignedRow<KeyRow> {
    if (!table.isAuthentic(row)) throw table.integrityError(`The key ${row.key_hash}`, row);
    return row;
  }

  return {
    table,
    authentic,
    /**
     * The rows of these hashes, verified when they are read. A hash without a key maps to no row, as does the key of another
     * organisation when an organisation is given.
     */
    async lookUp(
      session: Session,
      keyHashes: readonly string[],
      orgID?: string,
    ): Promise<ReadonlyMap<string, FoundKey>> {
      const rows = await session.query<FoundKeyRow>(select, [keyHashes.filter(isBindableText), orgID ?? null]);
      return new Map(
        rows.map((row) => [
          row.wanted,
          {
            orgID: row.org_id ?? undefined,
            read: () => {
              if (row.is_lost) throw integrityError(`The key ${row.wanted}`);
              return row.key_hash === null ? undefined : authentic(row);
            },
          },
        ]),
      );
    },
    /** Locks the rows of these keys until the transaction ends, in the order of their hashes, so that no deadlock occurs. */
    async lock(session: Session, keyHashes: readonly string[]): Promise<void> {
      await session.query(lock, [keyHashes.filter(isBindableText)]);
    },
  };
}

export type KeyRows = ReturnType<typeof createKeyRows>;
