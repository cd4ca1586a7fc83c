import type { OrgCounter, QuotaManager } from '../../keys/quota/quota-manager.js';
import { withinBudget } from '../within-budget.js';
import { prepared } from '../sql/session.js';
import type { PgPool } from './pool.js';
import { isBindableText } from '../sql/dialect.js';

interface PostgresCounterRow {
  readonly org_id: string;
  readonly key_hash: string;
  readonly date_created: string;
  readonly quota_used: bigint;
  readonly quota_renews: bigint | null;
  readonly quota_max: bigint | null;
  readonly quota_renewal_rate: bigint | null;
}

const pageSize = 500;

// `json` and not `jsonb`, which holds no NUL, and would write all of a definition anew to find two members of it.
const select = prepared(
  `SELECT org_id, key_hash, date_created, quota_used, quota_renews, (definition::json ->> 'quotaMax')::bigint AS quota_max,
     (definition::json ->> 'quotaRenewalRate')::bigint AS quota_renewal_rate
   FROM keys WHERE org_id = ANY ($1::text[]) AND (org_id, key_hash) > ($2, $3) AND deleted IS NULL
   ORDER BY org_id, key_hash LIMIT ${pageSize}`,
);

/** Reads the counters of organisations: one statement for all of them, and more only beyond a page. */
export function readCounters({ run }: PgPool): QuotaManager['counters'] {
  return async function* counters(orgIDs, reads) {
    const wanted = orgIDs.filter(isBindableText);
    for (let after = ['', '']; ;) {
      const place = after;
      const page = await withinBudget(reads, () =>
        run((session) => session.query<PostgresCounterRow>(select, [wanted, ...place])),
      );
      yield page.map(counterOf);
      const last = page.at(-1);
      if (last === undefined || page.length < pageSize) return;
      after = [last.org_id, last.key_hash];
    }
  };
}

function counterOf(row: PostgresCounterRow): OrgCounter {
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
