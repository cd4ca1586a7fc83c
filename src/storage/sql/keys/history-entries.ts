import { AppError } from '../../../lib/errors.js';
import type { HistoryRange } from '../../../keys/key-query.js';
import {
  hasChanges,
  linkOf,
  type RevisionRow,
  type StoredRevisionRow,
  type KeyRow,
} from '../../records/key-records.js';
import type { SignedRow } from '../../records/signed.js';
import { batchesBySize } from '../pages.js';
import { placeOf } from '../place.js';

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
  row: Pick<KeyRow, 'version' | 'identity'> | undefined,
): Span {
  const current = row ? Number(row.version) : 0;
  if (asOf && (!row || Buffer.from(row.identity).toString('hex') !== asOf.identity)) throw purgedMeanwhile();
  const version = Math.min(asOf?.version ?? current, current);
  const first = Math.max(after + 1, 1);
  const newest = Math.min(before - 1, version);
  const count = limit < 0 ? Infinity : limit;
  return last
    ? { first: Math.max(first, newest - count + 1), newest }
    : { first, newest: Math.min(newest, first + count - 1) };
}

/** The item of a span for `Dialect.historySpans`. */
export function spanItem(keyHash: string, { first, newest }: Span): unknown[] {
  return [keyHash, first, newest, String(placeOf(keyHash))];
}

/** Whether the rows are those of the span, in order, each of them ours, and with its changes. */
export function isUnbroken(
  rows: readonly StoredRevisionRow[],
  { first, newest }: Span,
  isGood: (row: SignedRow<RevisionRow>) => boolean,
): boolean {
  return (
    rows.length === newest - first + 1 &&
    rows.every((row, index) => Number(row.version) === first + index && isGood(row) && hasChanges(row))
  );
}

/** Verifies the chain of a history, from its first entry on. The definition after an entry is in the one that follows it. */
export function createChain(isGood: (row: SignedRow<RevisionRow>) => boolean) {
  let last: RevisionRow | undefined;
  let previous: Uint8Array | null = null;
  let isWhole = true;

  /** Whether the last entry, after which the key had this definition, continues the chain. */
  function isLinked(definition: string | null): boolean {
    if (!last) return definition === null;
    return definition !== null && isSame(last.link, linkOf(previous, last, definition));
  }

  return {
    add(row: SignedRow<RevisionRow>): void {
      isWhole &&= row.version === (last?.version ?? 0n) + 1n && isGood(row) && isLinked(row.before);
      previous = last?.link ?? null;
      last = row;
    },
    /** Whether the history is complete up to the version, the definition and the link of the key. */
    endsAt(key: KeyRow): boolean {
      return (
        isWhole && last?.version === key.version && isSame(last.link, key.history_link) && isLinked(key.definition)
      );
    },
  };
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

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
