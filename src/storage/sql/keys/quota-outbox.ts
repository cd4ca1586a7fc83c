import type { QuotaOutbox } from '../../../keys/quota/quota-manager.js';
import type { RowSigner } from '../../../crypto/row-signer.js';
import { createQuotaChangeTable, type PlacedRow, type QuotaChangeRow } from '../../records/quota-change.js';
import type { SignedRow } from '../../records/signed.js';
import { isBindableText } from '../dialect.js';
import { prepared, query, type SqlSession } from '../session.js';

const byKey = prepared('SELECT * FROM quota_changes WHERE key_hash = $1 ORDER BY id');
const page = prepared('SELECT * FROM quota_changes WHERE at < $1 AND (at, id) > ($2, $3) ORDER BY at, id LIMIT 200');
const count = prepared('SELECT count(*) AS pending FROM quota_changes');
const remove = prepared('DELETE FROM quota_changes WHERE key_hash = $1 AND date_created = $2 AND last_updated = $3');

/** The transactional outbox of changes to counters that are kept outside of the database. */
export function createQuotaOutbox({ all, transaction }: SqlSession, signer: RowSigner): QuotaOutbox {
  const table = createQuotaChangeTable(signer);
  return {
    pendingFor: async (keyHash) =>
      isBindableText(keyHash) ? table.read(await all<SignedRow<QuotaChangeRow>>(byKey, [keyHash])) : [],
    pendingBefore: (moment) =>
      table.readPages(({ at, id }) => all<PlacedRow>(page, [BigInt(moment.getTime()), at, id])),
    countPending: async () => Number((await all<{ pending: bigint | string }>(count, []))[0]?.pending ?? 0),
    acknowledge: (changes) =>
      transaction(function* () {
        for (const { keyHash, dateCreated, lastUpdated } of changes) {
          yield* query(remove, [keyHash, dateCreated, lastUpdated]);
        }
      }),
  };
}
