import type { RowSigner } from '../../../crypto/row-signer.js';
import type { StoredKey } from '../../../keys/key.js';
import type { KeyTransition } from '../../../keys/ports.js';
import type { Receipt } from '../../../keys/receipt.js';
import { keyFromRow, keyTable, keyToRow, termsOf, type KeyRow } from '../../records/key.js';
import { quotaChangeTable, quotaChangeToRow, type QuotaChangeRow } from '../../records/quota-change.js';
import { revisionTable, revisionToRow, type RevisionRow } from '../../records/revision.js';
import { createSignedTable, integrityError, isSameRow, type SignedRow } from '../../records/signed.js';
import { atOnce, type Steps } from '../../time-slices.js';
import type { Dialect } from '../dialect.js';
import { prepared, type WideQuery } from '../session.js';

/** The result for a hash: the row of its key, or none. */
export type KeyLookup = SignedRow<KeyRow> | MissingKey;

type MissingKey = { readonly [column in keyof SignedRow<KeyRow>]: null } & {
  readonly wanted: string;
  /** The organisation of a key that has a history and no row. */
  readonly lost_org: string | null;
};

// With an organisation, `$2`, another's row is not even read: the time taken does not show that it exists.
const selectOne = prepared('SELECT * FROM keys WHERE key_hash = $1 AND org_id = coalesce($2, org_id)');

// One statement reads one snapshot, in which a key without a row has no history, unless another writer removed the row.
// The row of a key that moved to another organisation is there, and its first history entry names the former one.
const lookUpIn = (hashes: string) =>
  prepared(
    `SELECT wanted.hash AS wanted, k.*, CASE
         WHEN k.key_hash IS NULL AND NOT EXISTS (SELECT 1 FROM keys other WHERE other.key_hash = wanted.hash)
         THEN (SELECT org_id FROM audit a WHERE a.key_hash = wanted.hash ORDER BY version_after LIMIT 1)
       END AS lost_org
     FROM ${hashes} AS wanted
       LEFT JOIN keys k ON k.key_hash = wanted.hash AND (CAST($2 AS text) IS NULL OR k.org_id = $2)`,
  );

/** See {@link createKeyRowStatements}. */
export type KeyRowStatements = ReturnType<typeof createKeyRowStatements>;

/** Looks rows of keys up and verifies them. The parameters of all statements: hashes, and an organisation or null. */
export function createKeyRowStatements({ listOf, isInTime, inList }: Dialect, signer: RowSigner) {
  const table = createSignedTable(signer, keyTable);
  const sizes = `SELECT key_hash, octet_length(definition) AS size FROM keys
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
    /**
     * The verified row; undefined if there is none.
     *
     * @param orgID - the organisation of the caller, which does not learn that a key of another is lost
     * @throws {AppError} INTERNAL when the row is damaged, or is missing although it has a history.
     */
    rowOf: (found: KeyLookup | undefined, orgID: string | undefined): SignedRow<KeyRow> | undefined => {
      if (found === undefined) return undefined;
      if (found.key_hash !== null) return verified(found);
      const { lost_org: lostOrg } = found;
      if (lostOrg !== null && (orgID ?? lostOrg) === lostOrg) throw integrityError(`The key ${found.wanted}`);
      return undefined;
    },
    /** The hashes that have a key, for `WideReader.keys`. */
    sizesOf: (keyHashes: readonly string[], orgID: string | undefined): WideQuery =>
      orgID === undefined
        ? { sql: sizes, parameters: [keyHashes] }
        : { sql: `${sizes} AND org_id = $2`, parameters: [keyHashes, orgID] },
  };
}

/** A change of the row of a key, which is undefined when there is no key. It is pure, because it may be applied again. */
export type RowChange<T> = (row: SignedRow<KeyRow> | undefined) => Steps<WriteCommand<T>>;

/** The writes of one change: the next row of the key if it changes, and its history entry, outbox entry and receipt. */
export interface WriteCommand<T> {
  readonly next?: SignedRow<KeyRow> | undefined;
  readonly entry?: SignedRow<RevisionRow> | undefined;
  readonly quotaChange?: SignedRow<QuotaChangeRow> | undefined;
  readonly receipt?: Receipt | undefined;
  /** The search terms of the key before and after; absent when the definition stays. */
  readonly terms?: { readonly before: ReadonlySet<string>; readonly after: ReadonlySet<string> } | undefined;
  readonly result: T;
}

/** The writes of one key, after any number of changes. */
export interface KeyWrite {
  /** The present row; undefined if there is none. */
  readonly before: SignedRow<KeyRow> | undefined;
  readonly row: SignedRow<KeyRow>;
  readonly entries: readonly SignedRow<RevisionRow>[];
  readonly quotaChanges: readonly SignedRow<QuotaChangeRow>[];
  readonly receipts: readonly Receipt[];
  readonly addedTerms: readonly string[];
  readonly droppedTerms: readonly string[];
}

/** The result of changes that were applied one after the other; undefined when the key stays as it is. */
export function keyWriteOf(
  before: SignedRow<KeyRow> | undefined,
  commands: readonly WriteCommand<unknown>[],
): KeyWrite | undefined {
  const row = commands.findLast(({ next }) => next)?.next;
  if (!row || (before && isSameRow(before, row))) return undefined;
  const changed = commands.flatMap(({ terms }) => terms ?? []);
  const known: ReadonlySet<string> = changed[0]?.before ?? new Set();
  const terms: ReadonlySet<string> = changed.at(-1)?.after ?? new Set();
  return {
    before,
    row,
    entries: commands.flatMap(({ entry }) => entry ?? []),
    quotaChanges: commands.flatMap(({ quotaChange }) => quotaChange ?? []),
    receipts: commands.flatMap(({ receipt }) => receipt ?? []),
    addedTerms: [...terms].filter((term) => !known.has(term)),
    droppedTerms: [...known].filter((term) => !terms.has(term)),
  };
}

/** The writes of the changes whose keys do not exist, where `found` are the rows of all. */
export function writesOfMissing(
  changes: ReadonlyMap<string, RowChange<unknown>>,
  found: readonly KeyLookup[],
  rowOf: KeyRowStatements['rowOf'],
): KeyWrite[] {
  const existing = new Set(found.flatMap((one) => rowOf(one, undefined)?.key_hash ?? []));
  return [...changes].flatMap(([keyHash, change]) =>
    existing.has(keyHash) ? [] : (keyWriteOf(undefined, [atOnce(change(undefined))]) ?? []),
  );
}

/** From this length on, a definition takes milliseconds to parse, to compare, to write and to sign. */
const largeCharacters = 16 * 1024;

/** Whether a change of this row is applied in time slices. */
export const isLarge = (found: KeyLookup | undefined): found is SignedRow<KeyRow> =>
  (found?.definition?.length ?? 0) > largeCharacters;

/** Makes changes of rows out of changes of keys. A change that returns undefined leaves its key as it is. */
export function createRowChanges(signer: RowSigner) {
  const keys = createSignedTable(signer, keyTable);
  const revisions = createSignedTable(signer, revisionTable);
  const quotaChanges = createSignedTable(signer, quotaChangeTable);

  // One generator function for all changes: V8 makes a hidden class for each generator function that is called.
  function* changed<T extends KeyTransition | undefined>(
    before: SignedRow<KeyRow> | undefined,
    apply: (stored: StoredKey | undefined) => T,
  ): Steps<WriteCommand<T>> {
    const stored = before && keyFromRow(before);
    yield;
    const result = apply(stored);
    if (!result) return { result };
    yield;
    const row = keyToRow(result.next, new Uint8Array());
    // The definition is written out once, for both rows.
    const entry = revisionToRow(result.revision, row.definition, before?.history_link ?? null);
    row.history_link = entry.link;
    yield;
    return {
      next: keys.signed(row),
      entry: revisions.signed(entry),
      quotaChange: result.quotaChange && quotaChanges.signed(quotaChangeToRow(result.quotaChange)),
      receipt: result.receipt,
      terms: { before: stored ? termsOf(stored) : new Set(), after: termsOf(result.next) },
      result,
    };
  }

  return <T extends KeyTransition | undefined>(apply: (stored: StoredKey | undefined) => T): RowChange<T> =>
    (row) =>
      changed(row, apply);
}
