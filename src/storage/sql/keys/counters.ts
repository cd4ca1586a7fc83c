import type { OrgCounter, QuotaManager } from '../../../keys/quota/quota-manager.js';
import type { ReadBudget } from '../../../keys/read-budget.js';
import { isBindableText, type Dialect } from '../dialect.js';
import { readPages } from '../pages.js';
import type { WideReader } from '../session.js';

interface CounterRow {
  readonly org_id: string;
  readonly key_hash: string;
  readonly date_created: string;
  readonly quota_used: bigint;
  readonly quota_renews: bigint | null;
  readonly quota_max: bigint | null;
  readonly quota_renewal_rate: bigint | null;
}

const pageSize = 500;

function counterStatements({ isInTime, inList, integerMember }: Dialect) {
  const select = `SELECT org_id, key_hash, date_created, quota_used, quota_renews,
    ${integerMember('definition', 'quotaMax')} AS quota_max,
    ${integerMember('definition', 'quotaRenewalRate')} AS quota_renewal_rate
    FROM keys WHERE ${isInTime} AND deleted IS NULL`;
  return {
    ofMany: `${select} AND org_id ${inList('$1', 'text')} AND org_id > $2 ORDER BY org_id, key_hash LIMIT ${pageSize}`,
    ofOne: `${select} AND org_id = $1 AND key_hash > $2 ORDER BY key_hash LIMIT ${pageSize}`,
  };
}

/** Reads the counters of organisations: one statement for all of them, and more only beyond a page. */
export function readCounters(dialect: Dialect, { many }: WideReader): QuotaManager['counters'] {
  const sql = counterStatements(dialect);

  const restOf = (orgID: string, from: string, reads?: ReadBudget) =>
    readPages<CounterRow>((last) => many({ sql: sql.ofOne, parameters: [orgID, last?.key_hash ?? from] }, reads));
  async function* pages(orgIDs: readonly string[], reads?: ReadBudget): AsyncIterable<readonly CounterRow[]> {
    for (let after = ''; ;) {
      const page = await many<CounterRow>({ sql: sql.ofMany, parameters: [orgIDs, after] }, reads);
      yield page;
      const last = page.at(-1);
      if (last === undefined || page.length < pageSize) return;
      // A full page ends somewhere within an organisation, which is read to its end before the next ones.
      yield* restOf(last.org_id, last.key_hash, reads);
      after = last.org_id;
    }
  }

  return async function* counters(orgIDs, reads) {
    for await (const page of pages(orgIDs.filter(isBindableText), reads)) yield page.map(counterOf);
  };
}

function counterOf(row: CounterRow): OrgCounter {
  return {
    orgID: row.org_id,
    keyHash: row.key_hash,
    dateCreated: row.date_created,
    definition: {
      ...(row.quota_max !== null && { quotaMax: row.quota_max }),
      ...(row.quota_renewal_rate !== null && { quotaRenewalRate: row.quota_renewal_rate }),
    },
    quota: { used: row.quota_used, renews: row.quota_renews ?? undefined },
  };
}
