import { setImmediate as nextIteration } from 'node:timers/promises';
import type { RowSigner } from '../../../crypto/row-signer.js';
import { receiptLifetimeMs } from '../../../keys/idempotency.js';
import { parseJSON } from '../../../lib/json.js';
import type { HeadRow } from '../../records/head.js';
import { integrityError, type SignedRow } from '../../records/signed.js';
import { createHeads } from '../heads.js';
import { prepared, query, type SqlSession, type Work } from '../session.js';

const name = 'receipts';
const hourMs = 3_600_000;
/** A receipt is counted this long after its time, when its transaction has ended. */
const settleMs = 10_000;
/** A step counts the receipts of this time: about 400,000 at most. */
const maxStepMs = 60_000;
/** How far the clocks of two hosts may differ. One that is ahead removes receipts before another expects it. */
const clockToleranceMs = 600_000;

/** Receipts that were counted and are missing. */
export interface MissingReceipts {
  /** The hour of their requests. */
  readonly from: Date;
  readonly count: number;
}

/**
 * A signed row with the number of receipts of each hour. Their times are sealed in them, so that a receipt that was removed
 * cannot be replaced by another one. Counting is separate from requests, so that these cost nothing more.
 */
export interface ReceiptCounts {
  /**
   * Counts the receipts that are new.
   *
   * @throws {AppError} INTERNAL when the counts fail their integrity check, or are older than those that this process has read.
   */
  advance(now: Date): Promise<void>;
  /**
   * Returns what is missing of the hours whose receipts have not expired.
   *
   * @throws {AppError} INTERNAL when the counts fail their integrity check.
   */
  findMissing(now: Date): Promise<MissingReceipts[]>;
  /** Begins the counts again, without those of before. */
  accept(now: Date): Promise<void>;
}

/** The content of the head. Times are Unix milliseconds. */
interface Content {
  /** Receipts up to here are counted. */
  readonly upTo: number;
  /** The number of receipts by the begin of their hour. */
  readonly counts: Readonly<Record<string, number>>;
}

const firstAfter = prepared('SELECT at FROM receipts WHERE at > $1 AND at <= $2 ORDER BY at LIMIT 1');
const countBetween = prepared('SELECT count(*) AS count FROM receipts WHERE at >= $1 AND at <= $2');

/** Creates the counts of receipts. They begin with the first call of `advance`. */
export function createReceiptCounts(session: SqlSession, signer: RowSigner): ReceiptCounts {
  const { snapshot, transaction } = session;
  const heads = createHeads(session, signer);
  let known = 0n;

  function contentOf(row: SignedRow<HeadRow> | undefined): Content | undefined {
    if (row ? !heads.isAuthentic(row) || row.sequence < known : known > 0n)
      throw integrityError('The head of the receipts');
    known = row?.sequence ?? known;
    // Written by us, from this very type.
    return row && (parseJSON(row.content) as unknown as Content);
  }

  function* countOf(fromMs: number, toMs: number): Work<number> {
    const [found] = yield* query<{ count: bigint }>(countBetween, [BigInt(fromMs), BigInt(toMs)]);
    return Number(found?.count ?? 0n);
  }

  /** Counts the receipts of one hour at most, up to `endMs`. */
  function* step(endMs: number): Work<{ readonly sequence: bigint; readonly hasMore: boolean }> {
    const row = yield* heads.lock(name);
    const content = contentOf(row);
    const { sequence = 0n } = row ?? {};
    const done = (written: bigint, hasMore = false) => ({ sequence: sequence + written, hasMore });
    const headOf = (next: Content) => ({ name, sequence: sequence + 1n, content: JSON.stringify(next) });
    if (!content) {
      // Another process may have begun meanwhile.
      yield* heads.add(headOf({ upTo: endMs, counts: {} }));
      return done(1n);
    }
    const { upTo, counts } = content;
    const kept = (isKept: (hour: number) => boolean) =>
      Object.fromEntries(Object.entries(counts).filter(([hour]) => isKept(Number(hour))));
    if (upTo > endMs + clockToleranceMs) {
      // The clock was set back. What was counted of the time that comes again would be counted twice.
      yield* heads.put(headOf({ upTo: endMs, counts: kept((hour) => hour + hourMs <= endMs) }));
      return done(1n);
    }
    const [first] = yield* query<{ at: bigint }>(firstAfter, [BigInt(upTo), BigInt(endMs)]);
    if (!first) return done(0n);
    const firstMs = Number(first.at);
    const hour = firstMs - (firstMs % hourMs);
    const lastMs = Math.min(endMs, firstMs + maxStepMs, hour + hourMs - 1);
    const count = (counts[hour] ?? 0) + (yield* countOf(firstMs, lastMs));
    yield* heads.put(
      headOf({ upTo: lastMs, counts: { ...kept((one) => one > endMs - receiptLifetimeMs), [hour]: count } }),
    );
    return done(1n, lastMs < endMs);
  }

  return {
    async advance(now) {
      const endMs = now.getTime() - settleMs;
      for (let hasMore = true; hasMore; await nextIteration()) {
        const done = await transaction(() => step(endMs));
        known = done.sequence;
        ({ hasMore } = done);
      }
    },
    findMissing: (now) =>
      snapshot(function* () {
        const { upTo = 0, counts = {} } = contentOf(yield* heads.read(name)) ?? {};
        const missing: MissingReceipts[] = [];
        for (const [text, count] of Object.entries(counts)) {
          const hour = Number(text);
          if (hour <= now.getTime() - receiptLifetimeMs + clockToleranceMs) continue;
          const found = yield* countOf(hour, Math.min(upTo, hour + hourMs - 1));
          if (found < count) missing.push({ from: new Date(hour), count: count - found });
        }
        return missing;
      }),
    accept: (now) =>
      transaction(function* () {
        const row = yield* heads.lock(name);
        const content: Content = { upTo: now.getTime() - settleMs, counts: {} };
        yield* heads.put({ name, sequence: (row?.sequence ?? 0n) + 1n, content: JSON.stringify(content) });
      }),
  };
}
