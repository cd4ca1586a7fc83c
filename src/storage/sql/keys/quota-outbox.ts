import type { QuotaOutbox } from '../../../keys/quota/external-counters.js';
import type { RowSigner } from '../../../crypto/row-signer.js';
import type { AppError } from '../../../lib/errors.js';
import { quotaChangeFromRow, quotaChangeTable, type QuotaChangeRow } from '../../records/key-records.js';
import { createSignedTable, type SignedRow } from '../../records/signed.js';
import { readPages } from '../pages.js';
import { isKeyHash } from '../place.js';
import { prepared, query, type SqlSession } from '../session.js';

const byKey = prepared('SELECT * FROM quota_changes WHERE key_hash = $1 ORDER BY id');
const count = prepared('SELECT count(*) AS pending FROM quota_changes');
const remove = prepared('DELETE FROM quota_changes WHERE key_hash = $1 AND identity = $2 AND last_updated = $3');

type OutboxRow = SignedRow<QuotaChangeRow> & { readonly id: bigint };

/** The transactional outbox of changes to counters that are kept outside of the database. */
export function createQuotaOutbox({ dialect, all, transaction }: SqlSession, signer: RowSigner): QuotaOutbox {
  const page = prepared(
    `SELECT * FROM quota_changes WHERE at < $1 AND (at, id) > ($2, ${dialect.rowID('$3')}) ORDER BY at, id LIMIT 200`,
  );
  const table = createSignedTable(signer, quotaChangeTable);
  const damaged = (row: OutboxRow): AppError =>
    table.integrityError(`A change of the quota of the key ${quotaChangeFromRow(row).keyHash}`, row);

  return {
    pendingFor: async (keyHash) => {
      const rows = isKeyHash(keyHash) ? await all<OutboxRow>(byKey, [Buffer.from(keyHash, 'hex')]) : [];
      const bad = rows.find((row) => !table.isAuthentic(row));
      if (bad) throw damaged(bad);
      return rows.map(quotaChangeFromRow);
    },
    async *pendingBefore(moment) {
      const before = BigInt(moment.getTime());
      let bad: OutboxRow | undefined;
      for await (const rows of readPages<OutboxRow>((last) => all(page, [before, last?.at ?? -1n, last?.id ?? 0n]))) {
        const good = rows.filter(table.isAuthentic);
        bad ??= rows.find((row) => !good.includes(row));
        if (good.length > 0) yield good.map(quotaChangeFromRow);
      }
      if (bad) throw damaged(bad);
    },
    countPending: async () => Number((await all<{ pending: bigint }>(count, []))[0]?.pending ?? 0),
    acknowledge: (changes) =>
      transaction(function* () {
        for (const { keyHash, identity, lastUpdated } of changes) {
          yield* query(remove, [Buffer.from(keyHash, 'hex'), Buffer.from(identity, 'hex'), lastUpdated]);
        }
      }),
  };
}
