import type { QuotaChange } from '../../keys/quota/quota-change.js';
import type { RowSigner } from '../../crypto/row-signer.js';
import { createSignedTable, type Layouts, type SignedRow } from './signed.js';

/** A row of the outbox of quota changes. */
export interface QuotaChangeRow {
  key_hash: string;
  date_created: string;
  last_updated: bigint;
  at: bigint;
  is_reset: bigint;
  period_before: bigint;
  period_after: bigint;
}

/** Where a page ends, in the order of time. */
export interface PageEnd {
  readonly at: bigint;
  readonly id: bigint;
}

/** A signed row with its position in the outbox. */
export type PlacedRow = SignedRow<QuotaChangeRow> & { readonly id: bigint };

/** All of a change of a counter but its signature. */
export const quotaChangeColumns = [
  'key_hash',
  'date_created',
  'last_updated',
  'at',
  'is_reset',
  'period_before',
  'period_after',
] as const satisfies readonly (keyof QuotaChangeRow)[];

/** The layouts that rows of the outbox were signed with, the newest last. */
export const quotaChangeLayouts: Layouts<QuotaChangeRow> = [quotaChangeColumns];

/** The changes of counters that are to be carried out, as rows of every engine. */
export function createQuotaChangeTable(signer: RowSigner) {
  const { signed, isAuthentic, integrityError } = createSignedTable<QuotaChangeRow>(
    signer,
    'quota_changes',
    quotaChangeLayouts,
  );
  const readOne = (row: SignedRow<QuotaChangeRow>): QuotaChange => {
    if (!isAuthentic(row)) throw integrityError(`A change of the quota of the key ${row.key_hash}`, row);
    return changeOf(row);
  };
  return {
    signedRowOf: (change: QuotaChange) => signed(rowOf(change)),
    /** Throws INTERNAL where one of the rows is not as it was written. */
    read: (rows: readonly SignedRow<QuotaChangeRow>[]) => rows.map(readOne),
    /** Yields the changes of page after page. Throws INTERNAL at the end when one of the rows failed its integrity check. */
    async *readPages(readPage: (after: PageEnd) => Promise<readonly PlacedRow[]>): AsyncIterable<QuotaChange[]> {
      let bad: PlacedRow | undefined;
      for (let after: PageEnd | undefined = { at: -1n, id: 0n }; after;) {
        const rows: readonly PlacedRow[] = await readPage(after);
        const good = rows.filter(isAuthentic);
        bad ??= rows.find((row) => !good.includes(row));
        if (good.length > 0) yield good.map(changeOf);
        after = rows.at(-1);
      }
      if (bad) readOne(bad);
    },
  };
}

function rowOf(change: QuotaChange): QuotaChangeRow {
  return {
    key_hash: change.keyHash,
    date_created: change.dateCreated,
    last_updated: change.lastUpdated,
    at: BigInt(change.at.getTime()),
    is_reset: change.isReset ? 1n : 0n,
    period_before: change.periodBefore,
    period_after: change.periodAfter,
  };
}

function changeOf(row: QuotaChangeRow): QuotaChange {
  return {
    keyHash: row.key_hash,
    dateCreated: row.date_created,
    lastUpdated: row.last_updated,
    at: new Date(Number(row.at)),
    isReset: row.is_reset === 1n,
    periodBefore: row.period_before,
    periodAfter: row.period_after,
  };
}
