import { linkOf, type AuditRow } from './audit-row.js';
import type { KeyRow } from './key-row.js';
import type { Signed } from './signed-table.js';

/** The part of a history that is asked for. */
export interface Range {
  readonly after?: number;
  readonly before?: number;
  readonly last?: boolean;
  readonly limit?: number;
}

/** The versions from one to another, both included; none where the newest is before the first. */
export interface Span {
  readonly first: number;
  readonly newest: number;
}

/** The versions that a range means of a key that has reached `version`. */
export function spanOf({ after = 0, before = Infinity, last = false, limit = -1 }: Range, version: number): Span {
  const first = Math.max(after + 1, 1);
  const newest = Math.min(before - 1, version);
  const count = limit < 0 ? Infinity : limit;
  return last
    ? { first: Math.max(first, newest - count + 1), newest }
    : { first, newest: Math.min(newest, first + count - 1) };
}

/** Whether the rows are those of the span, in order, each of them ours. */
export function isUnbroken(
  rows: readonly Signed<AuditRow>[],
  { first, newest }: Span,
  isGood: (row: Signed<AuditRow>) => boolean,
): boolean {
  return (
    rows.length === newest - first + 1 &&
    rows.every((row, index) => Number(row.version_after) === first + index && isGood(row))
  );
}

/** The newest entry of a history, where each follows the one before it and the key stands at the end; else undefined. */
export function lastLinked(
  key: KeyRow,
  rows: Iterable<Signed<AuditRow>>,
  isGood: (row: Signed<AuditRow>) => boolean,
): AuditRow | undefined {
  const chain = createChain(isGood);
  for (const row of rows) if (!chain.add(row)) return undefined;
  return chain.endAt(key);
}

/** Follows a history from its first entry on, for whoever reads it piece by piece. */
export function createChain(isGood: (row: Signed<AuditRow>) => boolean) {
  let last: AuditRow | undefined;
  let isWhole = true;
  return {
    /** False from the first entry on that does not follow the one before it. */
    add(row: Signed<AuditRow>): boolean {
      const isNext = row.version_before === (last?.version_after ?? 0n);
      isWhole &&= isNext && isGood(row) && isSame(row.link, linkOf(last?.link ?? null, row));
      last = row;
      return isWhole;
    },
    /** The newest entry, where the key stands at the end of them. */
    endAt(key: KeyRow): AuditRow | undefined {
      const isEnd = isWhole && last?.version_after === key.version && isSame(last.link, key.history_link);
      return isEnd ? last : undefined;
    },
  };
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
