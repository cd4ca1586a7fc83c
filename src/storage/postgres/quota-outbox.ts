import type { QuotaChange, QuotaOutbox } from '../../keys/quota-change.js';
import type { Authenticity } from '../authenticity.js';
import { quotaChangeColumns, quotaChangeOfRow, quotaChangeRowOf, type QuotaChangeRow } from '../quota-change-row.js';
import { createSignedTable, damaged, type Signed } from '../signed-table.js';
import { prepared, type Connections } from './connections.js';
import { mayBeThere } from './sought.js';

const ofKey = prepared('SELECT * FROM quota_changes WHERE key_hash = $1 ORDER BY id');
const before = prepared('SELECT * FROM quota_changes WHERE at < $1 ORDER BY at, id LIMIT 200');
const remove = prepared(
  `DELETE FROM quota_changes c USING unnest($1::text[], $2::text[], $3::bigint[]) AS d (key_hash, date_created, last_updated)
   WHERE c.key_hash = d.key_hash AND c.date_created = d.date_created AND c.last_updated = d.last_updated RETURNING c.id`,
);

/** What is to be done to counters elsewhere, beside the keys whose changes ask for it. */
export function createQuotaOutbox({ read, write }: Connections, authenticity: Authenticity) {
  const table = createSignedTable<QuotaChangeRow>(authenticity, 'quota_changes', quotaChangeColumns);
  function changeOf(row: Signed<QuotaChangeRow>): QuotaChange {
    if (!table.isAuthentic(row)) throw damaged(`A change of the quota of the key ${row.key_hash}`);
    return quotaChangeOfRow(row);
  }
  const outbox: QuotaOutbox = {
    changesOf: (keyHash) =>
      read(async (session) =>
        (await session.query<Signed<QuotaChangeRow>>(ofKey, [mayBeThere(keyHash) ? keyHash : ''])).map(changeOf),
      ),
    changesBefore: (moment) =>
      read(async (session) => {
        const rows = await session.query<Signed<QuotaChangeRow>>(before, [BigInt(moment.getTime())]);
        const good = rows.filter(table.isAuthentic);
        // A damaged one holds up no others, and is told of once it is alone.
        return (good.length > 0 ? good : rows).map(changeOf);
      }),
    forget: (changes) =>
      write(async (session) => {
        await session.write(remove, [
          changes.map(({ keyHash }) => keyHash),
          changes.map(({ dateCreated }) => dateCreated),
          changes.map(({ lastUpdated }) => lastUpdated),
        ]);
      }),
  };
  return { outbox, rowOf: (change: QuotaChange) => table.signed(quotaChangeRowOf(change)) };
}
