import type { QuotaOutbox } from '../../keys/quota/quota-manager.js';
import type { Authenticity } from '../records/authenticity.js';
import { createQuotaChangeTable, type PlacedRow, type QuotaChangeRow } from '../records/quota-change.js';
import type { SignedRow } from '../records/signed.js';
import { prepared, type PgPool } from './pool.js';
import { isValidPgText } from './sought.js';

const ofKey = prepared('SELECT * FROM quota_changes WHERE key_hash = $1 ORDER BY id');
const before = prepared('SELECT * FROM quota_changes WHERE at < $1 AND (at, id) > ($2, $3) ORDER BY at, id LIMIT 200');
const remove = prepared(
  `DELETE FROM quota_changes c USING unnest($1::text[], $2::text[], $3::bigint[]) AS d (key_hash, date_created, last_updated)
   WHERE c.key_hash = d.key_hash AND c.date_created = d.date_created AND c.last_updated = d.last_updated RETURNING c.id`,
);

/** What is to be done to counters elsewhere, beside the keys whose changes ask for it. */
export function createQuotaOutbox({ run }: PgPool, authenticity: Authenticity) {
  const table = createQuotaChangeTable(authenticity);
  const outbox: QuotaOutbox = {
    pendingFor: (keyHash) =>
      run(async (session) =>
        table.read(await session.query<SignedRow<QuotaChangeRow>>(ofKey, [isValidPgText(keyHash) ? keyHash : ''])),
      ),
    pendingBefore: (moment) =>
      table.readPages(({ at, id }) =>
        run(async (session) => session.query<PlacedRow>(before, [BigInt(moment.getTime()), at, id])),
      ),
    acknowledge: (changes) =>
      run(async (session) => {
        await session.write(remove, [
          changes.map(({ keyHash }) => keyHash),
          changes.map(({ dateCreated }) => dateCreated),
          changes.map(({ lastUpdated }) => lastUpdated),
        ]);
      }),
  };
  return { outbox, signedRowOf: table.signedRowOf };
}
