import { AppError } from '../../../lib/errors.js';
import type { RowSigner } from '../../../crypto/row-signer.js';
import type { StoredKey } from '../../../keys/key.js';
import type { KeyTransition } from '../../../keys/ports.js';
import type { Receipt } from '../../../keys/receipt.js';
import {
  keyTable,
  changeToRows,
  identifierRowsOf,
  termsOf,
  type IdentifierRow,
  type KeyRow,
  type StoredKeyRow,
  quotaChangeTable,
  type QuotaChangeRow,
  revisionTable,
  type RevisionRow,
} from '../../records/key-records.js';
import { createSignedTable, integrityError, isSameRow, type SignedRow } from '../../records/signed.js';
import type { Dialect } from '../dialect.js';
import { placesOf } from '../place.js';
import { createProposalEnds, type ProposalEndRow } from '../proposal-rows.js';
import { isOfLostKey, rowTexts } from '../rows.js';
import { prepared, type WideQuery } from '../session.js';
import { createRecentRows, type RecentRows } from './recent-rows.js';

/** The result for a hash: the row of its key, or none. */
export type KeyLookup = StoredKeyRow | MissingKey;

type MissingKey = { readonly [column in keyof StoredKeyRow]: null } & {
  readonly wanted: string;
  /** The organization of a key that has a history and no row. */
  readonly lost_org: string | null;
};

/** See {@link createKeyRowStatements}. */
export type KeyRowStatements = ReturnType<typeof createKeyRowStatements>;

/** Looks rows of keys up and verifies them. The parameters of all statements: hashes with their places, and an organization or null. */
export function createKeyRowStatements(dialect: Dialect, signer: RowSigner) {
  const { hashes, isInTime, isOfHash, withoutIndex } = dialect;
  const recent = createRecentRows(signer);
  const { keyColumns } = rowTexts(dialect);
  const one = '(SELECT CAST($1 AS text) AS hash, CAST($2 AS bigint) AS place)';
  const sizes = `SELECT k.id, octet_length(k.definition) AS size FROM ${hashes('$1')} AS w CROSS JOIN keys k
    WHERE ${isInTime} AND ${isOfHash('w.hash', 'w.place')}`;

  // One statement reads one snapshot, in which a key without a row has no history, unless another writer removed the row.
  // The row of a key that moved to another organization is there, and its first history entry names the former one.
  const lookUpIn = (wanted: string, orgID: string) =>
    prepared(
      `SELECT w.hash AS wanted, ${keyColumns}, CASE
         WHEN k.id IS NULL AND NOT EXISTS (SELECT 1 FROM keys k WHERE ${isOfHash('w.hash', 'w.place')})
         THEN (SELECT (SELECT o.name FROM orgs o WHERE o.id = h.org) FROM history h
           WHERE ${isOfLostKey(dialect, 'w.hash', 'w.place')} ORDER BY h.version LIMIT 1)
       END AS lost_org
     FROM ${wanted} AS w
       LEFT JOIN keys k ON ${isOfHash('w.hash', 'w.place')}
         AND (CAST(${orgID} AS text) IS NULL OR k.org = (SELECT id FROM orgs WHERE name = ${orgID}))`,
    );

  return {
    ...recent,
    signed: createSignedTable(signer, keyTable).signed,
    /**
     * The row of one key. Without one, `lookUpOne` finds out why: it costs more than this statement. With an organization,
     * another's row is not even read: the time taken does not show that it exists.
     */
    selectOne: prepared(
      `SELECT ${keyColumns} FROM keys k
       WHERE ${isOfHash('$1', '$2')} AND (CAST($3 AS text) IS NULL OR k.org = (SELECT id FROM orgs WHERE name = $3))`,
    ),
    lookUpOne: lookUpIn(one, '$3'),
    lookUpMany: lookUpIn(hashes('$1'), '$2'),
    /**
     * The verified row; undefined if there is none.
     *
     * @param orgID - the organization of the caller, which does not learn that a key of another is lost
     * @throws {AppError} INTERNAL when the row is damaged, or is missing although it has a history.
     */
    rowOf: (found: KeyLookup | undefined, orgID: string | undefined): StoredKeyRow | undefined => {
      if (found === undefined) return undefined;
      if (found.id !== null) return recent.verified(found);
      const { lost_org: lostOrg } = found;
      if (lostOrg !== null && (orgID ?? lostOrg) === lostOrg) throw integrityError(`The key ${found.wanted}`);
      return undefined;
    },
    /** The numbers of the rows of hashes that have a key, for `WideReader.keys`. */
    sizesOf: (keyHashes: readonly string[], orgID: string | undefined): WideQuery =>
      orgID === undefined
        ? { sql: sizes, parameters: [placesOf(keyHashes)] }
        : {
            // Each row is found by its hash: by its organization, SQLite would read all rows of it for each hash.
            sql: `${sizes} AND ${withoutIndex('k.org')} = (SELECT id FROM orgs WHERE name = $2)`,
            parameters: [placesOf(keyHashes), orgID],
          },
  };
}

/** How an engine reads and writes keys. A promise resolves when the write is durable. */
export interface KeyWriter {
  /**
   * Reads the row of a key, applies the change and writes the result. Changes that are requested at about the same time share
   * a transaction, those of one key in the order of their requests. A change that throws fails alone.
   *
   * @param orgID - the row of a key of another organization is neither verified nor passed to the change
   * @param onCommit - called after the commit, with the number of changes that it contains
   * @throws {AppError} UNAVAILABLE when too many changes wait, and what the change throws.
   */
  readonly change: <T>(
    keyHash: string,
    change: RowChange<T>,
    orgID?: string,
    onCommit?: (size: number) => void,
  ) => Promise<T>;
  /**
   * Applies changes, by the hashes of their keys, in one transaction, except those of keys that exist.
   *
   * @returns the hashes of the keys that were added.
   */
  readonly add: (changes: ReadonlyMap<string, RowChange<unknown>>) => Promise<ReadonlySet<string>>;
}

/** A change of the row of a key, which is undefined when there is no key. It is pure, because it may be applied again. */
export type RowChange<T> = (row: SignedRow<KeyRow> | undefined) => WriteCommand<T>;

/** The writes of one change: the next row of the key if it changes, and its history entry, outbox entry and receipt. */
export interface WriteCommand<T> {
  readonly next?: SignedRow<KeyRow> | undefined;
  readonly entry?: SignedRow<RevisionRow> | undefined;
  readonly quotaChange?: SignedRow<QuotaChangeRow> | undefined;
  readonly receipt?: Receipt | undefined;
  /** The end of the proposal that makes the change. If it has ended before, nothing is written. */
  readonly proposalEnd?: ProposalEndRow | undefined;
  /** The search terms of the key before and after; absent when the definition stays. */
  readonly terms?: { readonly before: ReadonlySet<string>; readonly after: ReadonlySet<string> } | undefined;
  /** The identifiers of the key before and after; absent when they stay. */
  readonly identifiers?:
    { readonly before: readonly IdentifierRow[]; readonly after: readonly IdentifierRow[] } | undefined;
  readonly result: T;
}

/** The writes of one key, after any number of changes. */
export interface KeyWrite {
  /** The present row; undefined if there is none. */
  readonly before: StoredKeyRow | undefined;
  readonly row: SignedRow<KeyRow>;
  readonly entries: readonly SignedRow<RevisionRow>[];
  readonly quotaChanges: readonly SignedRow<QuotaChangeRow>[];
  readonly receipts: readonly Receipt[];
  readonly proposalEnds: readonly ProposalEndRow[];
  readonly addedTerms: readonly string[];
  readonly droppedTerms: readonly string[];
  /** Rows of `identifiers` to add or replace, and hashes of rows to remove. */
  readonly putIdentifiers: readonly IdentifierRow[];
  readonly droppedIdentifiers: readonly string[];
}

/** The result of changes that were applied one after the other; undefined when the key stays as it is. */
export function keyWriteOf(
  before: StoredKeyRow | undefined,
  commands: readonly WriteCommand<unknown>[],
): KeyWrite | undefined {
  const row = commands.findLast(({ next }) => next)?.next;
  if (!row || (before && isSameRow(before, row))) return undefined;
  const changed = commands.flatMap(({ terms }) => terms ?? []);
  const known: ReadonlySet<string> = changed[0]?.before ?? new Set();
  const terms: ReadonlySet<string> = changed.at(-1)?.after ?? new Set();
  const rotated = commands.flatMap(({ identifiers }) => identifiers ?? []);
  const [former, putIdentifiers] = [rotated[0]?.before ?? [], rotated.at(-1)?.after ?? []];
  const kept = new Set(putIdentifiers.map(({ keyHash }) => keyHash));
  return {
    before,
    row,
    entries: commands.flatMap(({ entry }) => entry ?? []),
    quotaChanges: commands.flatMap(({ quotaChange }) => quotaChange ?? []),
    receipts: commands.flatMap(({ receipt }) => receipt ?? []),
    proposalEnds: commands.flatMap(({ proposalEnd }) => proposalEnd ?? []),
    addedTerms: [...terms].filter((term) => !known.has(term)),
    droppedTerms: [...known].filter((term) => !terms.has(term)),
    putIdentifiers,
    droppedIdentifiers: former.map(({ keyHash }) => keyHash).filter((keyHash) => !kept.has(keyHash)),
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
    existing.has(keyHash) ? [] : (keyWriteOf(undefined, [change(undefined)]) ?? []),
  );
}

/** Makes changes of rows out of changes of keys. A change that returns undefined leaves its key as it is. */
export function createRowChanges(signer: RowSigner, { keyOf }: Pick<RecentRows, 'keyOf'>) {
  const keys = createSignedTable(signer, keyTable);
  const revisions = createSignedTable(signer, revisionTable);
  const quotaChanges = createSignedTable(signer, quotaChangeTable);
  const endOf = createProposalEnds(signer);

  return <T extends KeyTransition | undefined>(apply: (stored: StoredKey | undefined) => T): RowChange<T> =>
    (before) => {
      const stored = before && keyOf(before);
      const result = apply(stored);
      if (!result) return { result };
      const { key, entry, quotaChange } = changeToRows(result, before);
      return {
        next: keys.signed(key),
        entry: revisions.signed(entry),
        quotaChange: quotaChange && quotaChanges.signed(quotaChange),
        receipt: result.receipt,
        proposalEnd: endOf(result.steps),
        terms: { before: stored ? termsOf(stored) : new Set(), after: termsOf(result.next) },
        identifiers:
          stored?.identifiers === result.next.identifiers
            ? undefined
            : { before: stored ? identifierRowsOf(stored) : [], after: identifierRowsOf(result.next) },
        result,
      };
    };
}

/** The error for a change that was not written because too many wait or change the same key. */
export function busyError(): AppError {
  return new AppError('UNAVAILABLE', 'Storage is busy; nothing was written.', { retryAfterSeconds: 1 });
}
