import type { QuotaChange } from '../../keys/quota/quota-change.js';
import { defineTable, type Columns, type RowOf } from './signed.js';

const columns = {
  key_hash: 'bytes',
  identity: 'bytes',
  last_updated: 'integer',
  at: 'integer',
  is_reset: 'integer',
  period_before: 'integer',
  period_after: 'integer',
} as const satisfies Columns;

/** A row of the outbox of quota changes. */
export type QuotaChangeRow = RowOf<typeof columns>;

/** The table of the outbox. */
export const quotaChangeTable = defineTable<QuotaChangeRow>('quota_changes', columns);

/** Returns the row of a change. */
export function quotaChangeToRow(change: QuotaChange): QuotaChangeRow {
  return {
    key_hash: Buffer.from(change.keyHash, 'hex'),
    identity: Buffer.from(change.identity, 'hex'),
    last_updated: change.lastUpdated,
    at: BigInt(change.at.getTime()),
    is_reset: change.isReset ? 1n : 0n,
    period_before: change.periodBefore,
    period_after: change.periodAfter,
  };
}

/** Returns the change of a row that passed its integrity check. */
export function quotaChangeFromRow(row: QuotaChangeRow): QuotaChange {
  return {
    keyHash: Buffer.from(row.key_hash).toString('hex'),
    identity: Buffer.from(row.identity).toString('hex'),
    lastUpdated: row.last_updated,
    at: new Date(Number(row.at)),
    isReset: row.is_reset === 1n,
    periodBefore: row.period_before,
    periodAfter: row.period_after,
  };
}
