import type { HistoryRequest } from '../../../keys/key-query.js';
import type { KeyRevision } from '../../../keys/key.js';
import type { KeyStore } from '../../../keys/ports.js';
import { asError } from '../../../lib/errors.js';
import { revisionFromRow, type RevisionRow, type StoredRevisionRow } from '../../records/key-records.js';
import type { SignedRow } from '../../records/signed.js';
import type { TimeSlices } from '../../time-slices.js';
import type { Dialect } from '../dialect.js';
import { batchesBySize } from '../pages.js';
import { entrySize, rowTexts, walk } from '../rows.js';
import { prepared, type SqlSession } from '../session.js';
import { isUnbroken, readBytes, sizeOf, spanItem, spanOf, type SizedVersion, type Span } from './history-entries.js';

interface HistoryBatchesDeps {
  readonly session: SqlSession;
  readonly isAuthentic: (row: SignedRow<RevisionRow>) => boolean;
  readonly slices: TimeSlices;
  /** Reads one history, and finds out why it cannot be read. */
  readonly historyOf: KeyStore['historyOf'];
}

/** A request, the span of its entries, and their size in bytes. */
interface PlannedRead {
  readonly request: HistoryRequest;
  readonly span: Span;
  size: bigint;
}

type OfSpan<Row> = Row & { readonly span_index: bigint };

/** An entry with the identity of its key in the same snapshot: the key may have been purged and added again. */
export type HistoryRow = StoredRevisionRow & { readonly key_identity: Uint8Array };

/** Reads the sizes and the entries of spans, in their order and that of the versions. */
export function historyStatements(dialect: Dialect) {
  const { entryColumns } = rowTexts(dialect);
  const walked = walk(dialect, dialect.historySpans('$1'));
  const isInSpan = 'w.version BETWEEN w.first AND w.newest AND h.id = w.id';
  return {
    sizes: prepared(
      `${walked} SELECT w.span_index, w.version, ${entrySize} AS size FROM walk w CROSS JOIN history h
       WHERE ${isInSpan} ORDER BY w.span_index, w.version`,
    ),
    entries: prepared(
      `${walked} SELECT w.span_index, ${entryColumns}, k.identity AS key_identity
       FROM walk w CROSS JOIN history h CROSS JOIN keys k
       WHERE ${isInSpan} AND k.id = w.key ORDER BY w.span_index, w.version`,
    ),
  };
}

/**
 * Reads the histories of many keys, with one statement for the sizes and one for the entries. A history that is larger than
 * one short read, or not as expected (damaged, or purged meanwhile), is read by itself.
 */
export function createHistoryBatches({
  session: { all, dialect },
  isAuthentic,
  slices,
  historyOf,
}: HistoryBatchesDeps): KeyStore['historiesOf'] {
  const { sizes, entries } = historyStatements(dialect);

  async function rowsOf<Row>(statement: typeof sizes, reads: readonly PlannedRead[]): Promise<Map<PlannedRead, Row[]>> {
    const given = reads.map(({ request: { key }, span }) => spanItem(key.keyHash, span));
    const rows = new Map(reads.map((read): [PlannedRead, Row[]] => [read, []]));
    for (const row of await all<OfSpan<Row>>(statement, [JSON.stringify(given)])) {
      const read = reads[Number(row.span_index)];
      if (read) rows.get(read)?.push(row);
    }
    return rows;
  }

  return async (requests, budget) => {
    const planned = requests.map((request): PlannedRead => ({ request, span: spanOfRequest(request), size: 0n }));
    const results = new Map<PlannedRead, KeyRevision[] | Error>();
    const pending = planned.filter(({ span }) => span.newest >= span.first);
    for (const [read, found] of await rowsOf<SizedVersion>(sizes, pending)) read.size = BigInt(sizeOf(found));
    for (const batch of batchesBySize(
      pending.filter(({ size }) => size > 0n && size <= readBytes),
      readBytes,
    )) {
      budget?.requireTime();
      const affordable = batch.filter((read) => {
        const error = errorOf(() => budget?.take('history entries', countOf(read), Number(read.size)));
        if (error) results.set(read, error);
        return !error;
      });
      for (const [read, rows] of await rowsOf<HistoryRow>(entries, affordable)) {
        // Verified in a time slice: the signature of an entry covers its definition.
        await slices.next();
        const { key } = read.request;
        const isOfKey = rows.every(({ key_identity }) => Buffer.from(key_identity).toString('hex') === key.identity);
        if (isOfKey && isUnbroken(rows, read.span, isAuthentic)) results.set(read, rows.map(revisionFromRow));
      }
    }
    for (const read of pending.filter((one) => !results.has(one))) {
      const { key, range } = read.request;
      results.set(read, await historyOf(key.keyHash, { ...range, asOf: key }, budget).catch(asError));
    }
    return planned.map((read) => results.get(read) ?? []);
  };
}

function spanOfRequest({ key, range }: HistoryRequest): Span {
  const row = { version: BigInt(key.version), identity: Buffer.from(key.identity, 'hex') };
  return spanOf({ ...range, asOf: key }, row);
}

const countOf = ({ span }: PlannedRead) => span.newest - span.first + 1;

function errorOf(work: () => void): Error | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return asError(error);
  }
}
