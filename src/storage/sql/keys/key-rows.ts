import type { RowSigner } from '../../../crypto/row-signer.js';
import { keyLayouts, type KeyRow } from '../../records/key.js';
import { createSignedTable, integrityError, type SignedRow } from '../../records/signed.js';
import type { Dialect } from '../dialect.js';
import { prepared, type WideQuery } from '../session.js';

/** The result for a hash: a row or none, and 1 if there is a history without its row. */
export type KeyLookup = { readonly wanted: string; readonly is_lost: bigint } & (
  SignedRow<KeyRow> | { readonly [column in keyof SignedRow<KeyRow>]: null }
);

// With an organisation, `$2`, another's row is not even read: the time taken does not show that it exists.
const selectOne = prepared('SELECT * FROM keys WHERE key_hash = $1 AND org_id = coalesce($2, org_id)');

// One statement reads one snapshot, in which a key without a row has no history, unless another writer removed the row.
// The row of a key that moved to another organisation is there, and its first history entry names the former one.
const lookUpIn = (hashes: string) =>
  prepared(
    `SELECT wanted.hash AS wanted, k.*, CAST(CASE WHEN k.key_hash IS NOT NULL THEN 0 WHEN EXISTS (
         SELECT 1 FROM (SELECT org_id FROM audit a WHERE a.key_hash = wanted.hash ORDER BY version_after LIMIT 1) AS first
         WHERE CAST($2 AS text) IS NULL
           OR (first.org_id = $2 AND NOT EXISTS (SELECT 1 FROM keys other WHERE other.key_hash = wanted.hash))
       ) THEN 1 ELSE 0 END AS bigint) AS is_lost
     FROM ${hashes} AS wanted
       LEFT JOIN keys k ON k.key_hash = wanted.hash AND (CAST($2 AS text) IS NULL OR k.org_id = $2)`,
  );

/** See {@link createKeyRowStatements}. */
export type KeyRowStatements = ReturnType<typeof createKeyRowStatements>;

/** Looks rows of keys up and verifies them. The parameters of all statements: hashes, and an organisation or null. */
export function createKeyRowStatements({ listOf, isInTime, inList }: Dialect, signer: RowSigner) {
  const table = createSignedTable<KeyRow>(signer, 'keys', keyLayouts);
  const sizes = `SELECT key_hash AS place, octet_length(definition) AS size FROM keys
    WHERE ${isInTime} AND key_hash ${inList('$1', 'text')}`;

  /** @throws {AppError} INTERNAL when the row is damaged. */
  function verified(row: SignedRow<KeyRow>): SignedRow<KeyRow> {
    if (!table.isAuthentic(row)) throw table.integrityError(`The key ${row.key_hash}`, row);
    return row;
  }

  return {
    signed: table.signed,
    verified,
    /** The row of one key. Without one, `lookUpOne` finds out why: it costs more than this statement. */
    selectOne,
    lookUpOne: lookUpIn('(SELECT CAST($1 AS text) AS hash)'),
    lookUpMany: lookUpIn(`(SELECT value AS hash FROM ${listOf('$1')})`),
    /** @throws {AppError} INTERNAL when the row is damaged, or is missing although it has a history. */
    rowOf: (found: KeyLookup | undefined): SignedRow<KeyRow> | undefined => {
      if (found?.is_lost === 1n) throw integrityError(`The key ${found.wanted}`);
      return found === undefined || found.key_hash === null ? undefined : verified(found);
    },
    /** The hashes that have a key, for `WideReader.keys`. */
    sizesOf: (keyHashes: readonly string[], orgID: string | undefined): WideQuery =>
      orgID === undefined
        ? { sql: sizes, parameters: [keyHashes] }
        : { sql: `${sizes} AND org_id = $2`, parameters: [keyHashes, orgID] },
  };
}
