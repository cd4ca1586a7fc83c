import { setImmediate as turnOfOthers } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import type { OrgCounter, QuotaManager } from '../../keys/quota.js';
import type { Guard } from './guard.js';

interface CounterRow {
  readonly org_id: string;
  readonly key_hash: string;
  readonly date_created: string;
  readonly quota_used: bigint;
  readonly quota_renews: bigint | null;
  readonly quota_max: bigint | null;
  readonly quota_renewal_rate: bigint | null;
}

const pageSize = 2_000;

/** Reads the counters of organisations: one statement for all of them, and more only beyond a page. */
export function readCounters(database: Database, read: Guard['read']): QuotaManager['counters'] {
  const select = `SELECT org_id, key_hash, date_created, quota_used, quota_renews,
    definition ->> '$.quotaMax' AS quota_max, definition ->> '$.quotaRenewalRate' AS quota_renewal_rate FROM keys`;
  const ofMany = database.prepare<[string, string], CounterRow>(
    `${select} WHERE org_id IN (SELECT value FROM json_each(?)) AND org_id > ? AND deleted IS NULL
     ORDER BY org_id, key_hash LIMIT ${pageSize}`,
  );
  const ofOne = database.prepare<[string, string], CounterRow>(
    `${select} WHERE org_id = ? AND key_hash > ? AND deleted IS NULL ORDER BY key_hash LIMIT ${pageSize}`,
  );

  async function* restOf(orgID: string, after: string): AsyncIterable<CounterRow[]> {
    for (let last: string | undefined = after; last !== undefined;) {
      const page = await read(() => ofOne.all(orgID, last ?? ''));
      yield page;
      last = page.at(-1)?.key_hash;
    }
  }

  async function* pages(wanted: string): AsyncIterable<CounterRow[]> {
    for (let after = ''; ;) {
      const page = await read(() => ofMany.all(wanted, after));
      yield page;
      const last = page.at(-1);
      if (last === undefined || page.length < pageSize) return;
      // A full page ends somewhere within an organisation, which is gone through before the next ones.
      yield* restOf(last.org_id, last.key_hash);
      after = last.org_id;
    }
  }

  return async function* counters(orgIDs) {
    for await (const page of pages(JSON.stringify(orgIDs))) {
      yield page.map(counterOf);
      if (page.length === pageSize) await turnOfOthers();
    }
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
