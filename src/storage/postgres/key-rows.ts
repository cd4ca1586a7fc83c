import type { Authenticity } from '../records/authenticity.js';
import { keyLayouts, type KeyRow } from '../records/key.js';
import { createSignedTable, integrityError, type SignedRow } from '../records/signed.js';
import { prepared } from '../sql/session.js';
import { type Session } from './pool.js';
import { isValidPgText } from './sought.js';

/** What a look for a hash finds: no row, or one, and whether there is a history that should have one. */
type Found = { readonly asked: string; readonly is_lost: boolean } & (
  SignedRow<KeyRow> | { readonly [column in keyof SignedRow<KeyRow>]: null }
);

// One statement reads one snapshot, in which a key without a row has no history, unless another writer removed the row.
// The row of a key that moved to another organisation is there, and its first history entry names the former one.
const select = prepared(
  `SELECT asked.hash AS asked, k.*,
     CASE WHEN k.key_hash IS NULL THEN EXISTS (
       SELECT FROM (SELECT org_id FROM audit a WHERE a.key_hash = asked.hash ORDER BY version_after LIMIT 1) AS first
       WHERE $2::text IS NULL OR first.org_id = $2 AND NOT EXISTS (SELECT FROM keys other WHERE other.key_hash = asked.hash)
     ) ELSE false END AS is_lost
   FROM unnest($1::text[]) AS asked (hash)
     LEFT JOIN keys k ON k.key_hash = asked.hash AND ($2::text IS NULL OR k.org_id = $2)`,
);
const lock = prepared('SELECT key_hash FROM keys WHERE key_hash = ANY ($1::text[]) ORDER BY key_hash FOR UPDATE');

export interface FoundKey {
  /** The organisation of the row, not verified; undefined when there is none. */
  readonly orgID: string | undefined;
  /** The row, verified. Throws INTERNAL when it is damaged, or is missing although it has a history. */
  readonly read: () => SignedRow<KeyRow> | undefined;
}

/** Reads rows of keys, and knows ours. */
export function createKeyRows(authenticity: Authenticity) {
  const table = createSignedTable<KeyRow>(authenticity, 'keys', keyLayouts);

  function authentic(row: SignedRow<KeyRow>): SignedRow<KeyRow> {
    if (!table.isAuthentic(row)) throw table.integrityError(`The key ${row.key_hash}`, row);
    return row;
  }

  return {
    table,
    authentic,
    /**
     * The rows of these hashes, or what to throw in place of one. A hash that no key has is in it with nothing, as is one
     * of another organisation's key when an organisation is given.
     */
    async lookUp(
      session: Session,
      keyHashes: readonly string[],
      orgID?: string,
    ): Promise<ReadonlyMap<string, FoundKey>> {
      const rows = await session.query<Found>(select, [keyHashes.filter(isValidPgText), orgID ?? null]);
      return new Map(
        rows.map((row) => [
          row.asked,
          {
            orgID: row.org_id ?? undefined,
            read: () => {
              if (row.is_lost) throw integrityError(`The key ${row.asked}`);
              return row.key_hash === null ? undefined : authentic(row);
            },
          },
        ]),
      );
    },
    /** Keeps others from writing these keys until the transaction ends. Always in one order, so that nobody waits in a circle. */
    async lock(session: Session, keyHashes: readonly string[]): Promise<void> {
      await session.query(lock, [keyHashes.filter(isValidPgText)]);
    },
  };
}

export type KeyRows = ReturnType<typeof createKeyRows>;
