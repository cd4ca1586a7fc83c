import type { Database } from 'better-sqlite3';
import type { QuotaChange, QuotaOutbox } from '../../keys/quota-change.js';
import type { Authenticity } from '../authenticity.js';
import { quotaChangeColumns, quotaChangeOfRow, quotaChangeRowOf, type QuotaChangeRow } from '../quota-change-row.js';
import { createSignedTable, damaged, type Signed } from '../signed-table.js';
import type { Guard } from './guard.js';

const pageSize = 200;

/** What is to be done to counters elsewhere, beside the keys whose changes ask for it. */
export function createQuotaOutbox(database: Database, authenticity: Authenticity, { read, write }: Guard) {
  const table = createSignedTable<QuotaChangeRow>(authenticity, 'quota_changes', quotaChangeColumns);
  const names = [...quotaChangeColumns, 'mac'] as const;
  const insert = database.prepare<[Signed<QuotaChangeRow>]>(
    `INSERT INTO quota_changes (${names.join(', ')}) VALUES (${names.map((column) => `@${column}`).join(', ')})`,
  );
  const ofKey = database.prepare<[string], Signed<QuotaChangeRow>>(
    'SELECT * FROM quota_changes WHERE key_hash = ? ORDER BY id',
  );
  const before = database.prepare<[bigint], Signed<QuotaChangeRow>>(
    `SELECT * FROM quota_changes WHERE at < ? ORDER BY at, id LIMIT ${pageSize}`,
  );
  const remove = database.prepare<[string, string, bigint]>(
    'DELETE FROM quota_changes WHERE key_hash = ? AND date_created = ? AND last_updated = ?',
  );
  const removeAll = database.prepare<[string]>('DELETE FROM quota_changes WHERE key_hash = ?');

  function changeOf(row: Signed<QuotaChangeRow>): QuotaChange {
    if (!table.isAuthentic(row)) throw damaged(`A change of the quota of the key ${row.key_hash}`);
    return quotaChangeOfRow(row);
  }
  const outbox: QuotaOutbox = {
    changesOf: (keyHash) => read(() => ofKey.all(keyHash).map(changeOf)),
    changesBefore: (moment) =>
      read(() => {
        const rows = before.all(BigInt(moment.getTime()));
        const good = rows.filter(table.isAuthentic);
        // A damaged one holds up no others, and is told of once it is alone.
        return (good.length > 0 ? good : rows).map(changeOf);
      }),
    forget: (changes) =>
      write(() => {
        for (const { keyHash, dateCreated, lastUpdated } of changes) remove.run(keyHash, dateCreated, lastUpdated);
      }),
  };
  return {
    ...outbox,
    /** Within the transaction of a change of the key. */
    add: (change: QuotaChange) => void insert.run(table.signed(quotaChangeRowOf(change))),
    /** Within the transaction that takes the key away. */
    drop: (keyHash: string) => void removeAll.run(keyHash),
  };
}
