import type { KeyStore } from '../../../keys/ports.js';
import type { OrgCounter } from '../../../keys/quota/external-counters.js';
import type { ReadBudget } from '../../../keys/read-budget.js';
import { parseJSON } from '../../../lib/json.js';
import { isBindableText, type Dialect } from '../dialect.js';
import { readPages } from '../pages.js';
import type { WideReader } from '../session.js';

interface CounterRow {
  readonly id: bigint;
  readonly org: bigint;
  readonly org_id: string;
  readonly key_hash: string;
  readonly identity: Uint8Array;
  readonly quota_used: bigint;
  readonly quota_renews: bigint | null;
  readonly quota_max: bigint | null;
  readonly quota_renewal_rate: bigint | null;
  /** JSON. */
  readonly apply_policies: string | null;
}

const pageSize = 500;

function counterStatements({ hexOf, isInTime, inList, integerMember, listMember }: Dialect) {
  const select = `SELECT k.id, k.org, o.name AS org_id, ${hexOf('k.key_hash')} AS key_hash, k.identity, k.quota_used, k.quota_renews,
    ${integerMember('k.definition', 'quotaMax')} AS quota_max,
    ${integerMember('k.definition', 'quotaRenewalRate')} AS quota_renewal_rate,
    ${listMember('k.definition', 'applyPolicies')} AS apply_policies
    FROM keys k JOIN orgs o ON o.id = k.org WHERE ${isInTime} AND k.deleted IS NULL`;
  return {
    ofMany: `${select} AND k.org IN (SELECT id FROM orgs WHERE name ${inList('$1', 'text')}) AND k.org > $2
      ORDER BY k.org, k.id LIMIT ${pageSize}`,
    ofOne: `${select} AND k.org = $1 AND k.id > $2 ORDER BY k.id LIMIT ${pageSize}`,
  };
}

/** Reads the counters of organizations: one statement for all of them, and more only beyond a page. */
export function readCounters(dialect: Dialect, { many }: WideReader): KeyStore['counters'] {
  const sql = counterStatements(dialect);

  const restOf = (org: bigint, from: bigint, reads?: ReadBudget) =>
    readPages<CounterRow>((last) => many({ sql: sql.ofOne, parameters: [org, last?.id ?? from] }, reads));
  async function* pages(orgIDs: readonly string[], reads?: ReadBudget): AsyncIterable<readonly CounterRow[]> {
    for (let after = -1n; ;) {
      const page = await many<CounterRow>({ sql: sql.ofMany, parameters: [orgIDs, after] }, reads);
      yield page;
      const last = page.at(-1);
      if (last === undefined || page.length < pageSize) return;
      // A full page ends somewhere within an organization, which is read to its end before the next ones.
      yield* restOf(last.org, last.id, reads);
      after = last.org;
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
    identity: Buffer.from(row.identity).toString('hex'),
    definition: {
      ...(row.quota_max !== null && { quotaMax: row.quota_max }),
      ...(row.quota_renewal_rate !== null && { quotaRenewalRate: row.quota_renewal_rate }),
      ...(row.apply_policies !== null && { applyPolicies: parseJSON(row.apply_policies) as unknown as string[] }),
    },
    quota: { used: row.quota_used, renews: row.quota_renews ?? undefined },
  };
}
