import type { QuotaChange } from '../keys/quota-change.js';

export interface QuotaChangeRow {
  key_hash: string;
  date_created: string;
  last_updated: bigint;
  at: bigint;
  is_reset: bigint;
  period_before: bigint;
  period_after: bigint;
}

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

export function quotaChangeRowOf(change: QuotaChange): QuotaChangeRow {
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

export function quotaChangeOfRow(row: QuotaChangeRow): QuotaChange {
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
