import type { Database } from 'better-sqlite3';
import type { QuotaOutbox } from '../../keys/quota/quota-manager.js';
import type { QuotaChange } from '../../keys/quota/quota-change.js';
import type { Authenticity } from '../records/authenticity.js';
import {
  createQuotaChangeTable,
  quotaChangeColumns,
  type PlacedRow,
  type QuotaChangeRow,
} from '../records/quota-change.js';
import type { SignedRow } from '../records/signed.js';
import type { WriteGate } from './write-gate.js';

const pageSize = 200;

/** What is to be done to counters elsewhere, beside the keys whose changes ask for it. */
export function createQuotaOutbox(database: Database, authenticity: Authenticity, { read, write }: WriteGate) {
  const table = createQuotaChangeTable(authenticity);
  const names = [...quotaChangeColumns, 'mac'] as const;
  const insert = database.prepare<[SignedRow<QuotaChangeRow>]>(
    `INSERT INTO quota_changes (${names.join(', ')}) VALUES (${names.map((column) => `@${column}`).join(', ')})`,
  );
  const ofKey = database.prepare<[string], SignedRow<QuotaChangeRow>>(
    'SELECT * FROM quota_changes WHERE key_hash = ? ORDER BY id',
  );
  const before = database.prepare<[bigint, bigint, bigint], PlacedRow>(
    `SELECT * FROM quota_changes WHERE at < ? AND (at, id) > (?, ?) ORDER BY at, id LIMIT ${pageSize}`,
  );
  const remove = database.prepare<[string, string, bigint]>(
    'DELETE FROM quota_changes WHERE key_hash = ? AND date_created = ? AND last_updated = ?',
  );
  const removeAll = database.prepare<[string]>('DELETE FROM quota_changes WHERE key_hash = ?');

  const outbox: QuotaOutbox = {
    pendingFor: (keyHash) => read(() => table.read(ofKey.all(keyHash))),
    pendingBefore: (moment) =>
      table.readPages(({ at, id }) => read(() => before.all(BigInt(moment.getTime()), at, id))),
    acknowledge: (changes) =>
      write(() => {
        for (const { keyHash, dateCreated, lastUpdated } of changes) remove.run(keyHash, dateCreated, lastUpdated);
      }),
  };
  return {
    ...outbox,
    /** Within the transaction of a change of the key. */
    add: (change: QuotaChange) => void insert.run(table.signedRowOf(change)),
    /** Within the transaction that takes the key away. */
    drop: (keyHash: string) => void removeAll.run(keyHash),
  };
}
