import { AppError } from '../../../lib/errors.js';
import type { HistoryRange } from '../../../keys/key-query.js';
import { linkOf, type RevisionRow } from '../../records/revision.js';
import type { KeyRow } from '../../records/key.js';
import type { SignedRow } from '../../records/signed.js';
import { batchesBySize } from '../pages.js';

/** The versions from one to another, both included; empty if the newest is before the first. */
export interface Span {
  readonly first: number;
  readonly newest: number;
}

/** The error for a key that was purged during the read. */
export function purgedMeanwhile(): AppError {
  return new AppError('NOT_FOUND', 'The key was purged while it was read.');
}

/**
 * The versions of a range, up to the stored one: a dry run returns a key whose version does not exist.
 *
 * @param row - the key's row, read in the same snapshot as the entries or before them; undefined when there is none.
 * @throws {AppError} NOT_FOUND when the row is not of the key that `asOf` names.
 */
export function spanOf(
  { after = 0, before = Infinity, last = false, limit = -1, asOf }: HistoryRange,
  row: Pick<KeyRow, 'version' | 'date_created'> | undefined,
): Span {
  const current = row ? Number(row.version) : 0;
  if (asOf && row?.date_created !== asOf.dateCreated) throw purgedMeanwhile();
  const version = Math.min(asOf?.version ?? current, current);
  const first = Math.max(after + 1, 1);
  const newest = Math.min(before - 1, version);
  const count = limit < 0 ? Infinity : limit;
  return last
    ? { first: Math.max(first, newest - count + 1), newest }
    : { first, newest: Math.min(newest, first + count - 1) };
}

/** Whether the rows are those of the span, in order, each of them ours. */
export function isUnbroken(
  rows: readonly SignedRow<RevisionRow>[],
  { first, newest }: Span,
  isGood: (row: SignedRow<RevisionRow>) => boolean,
): boolean {
  return (
    rows.length === newest - first + 1 &&
    rows.every((row, index) => Number(row.version_after) === first + index && isGood(row))
  );
}

/** Verifies the chain of a history, from its first entry on. */
export function createChain(isGood: (row: SignedRow<RevisionRow>) => boolean) {
  let last: RevisionRow | undefined;
  let isWhole = true;
  return {
    /** False from the first entry on that does not follow the one before it. */
    add(row: SignedRow<RevisionRow>): boolean {
      const isNext = row.version_before === (last?.version_after ?? 0n);
      isWhole &&= isNext && isGood(row) && isSame(row.link, linkOf(last?.link ?? null, row));
      last = row;
      return isWhole;
    },
    /** The newest entry, if the key's version and link match it. */
    endAt(key: KeyRow): RevisionRow | undefined {
      const isEnd = isWhole && last?.version_after === key.version && isSame(last.link, key.history_link);
      return isEnd ? last : undefined;
    },
  };
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/** The size of the definition and the changes of an entry in bytes, as an expression over a row of `audit`. */
export const entrySize = 'CAST(octet_length(definition) + octet_length(changes) AS bigint)';

/** The maximum size of the entries of one short read in bytes; one entry may be larger. */
export const readBytes = 256 * 1024;

/** The size of the entry of a version, in bytes. */
export interface SizedVersion {
  readonly version: bigint;
  readonly size: bigint;
}

/** Returns the total size of these entries in bytes. */
export function sizeOf(found: readonly SizedVersion[]): number {
  return found.reduce((bytes, { size }) => bytes + Number(size), 0);
}

/** Divides a span into short reads. Missing entries are within one of them. */
export function partsOf({ first, newest }: Span, found: readonly SizedVersion[]): Span[] {
  const later = [...batchesBySize(found, readBytes)].slice(1).map(([{ version }]) => Number(version));
  return [first, ...later].map((from, index) => ({ first: from, newest: (later[index] ?? newest + 1) - 1 }));
}
