import { setImmediate as nextIteration } from 'node:timers/promises';
import {
  requirePolicyCapacity,
  type KnownPolicy,
  type PolicyChange,
  type PolicyStore,
  type PolicyVersion,
} from '../../keys/access/policy-store.js';
import type { Actor } from '../../keys/key.js';
import type { RowSigner } from '../../crypto/row-signer.js';
import { parseJSON } from '../../lib/json.js';
import type { HeadRow } from '../records/head.js';
import { policyFromRow, policyStamp, policyTable, policyToRow, type PolicyRow } from '../records/policy.js';
import { createSignedTable, integrityError, type SignedRow } from '../records/signed.js';
import { isBindableText } from './dialect.js';
import { createHeads } from './heads.js';
import { insertInto, prepared, query, valuesOf, type SqlSession, type Work } from './session.js';

/** The head has the newest version of each policy, so that an older row that is put back, or a missing one, shows. */
const headName = 'policies';

/** How long policies are used without a look at the database. */
const maxAgeMs = 1000;

/** Policies are parsed in groups, between which other requests are served. */
const groupSize = 20;

const columns = policyTable.columnNames;
const insert = prepared(insertInto('policies', columns));
const newestOf = (condition: string) =>
  `SELECT p.* FROM policies p WHERE p.version = (
     SELECT max(o.version) FROM policies o WHERE o.policy_id = p.policy_id${condition}
   ) ORDER BY p.policy_id`;
const newest = prepared(newestOf(''));
const newestAt = prepared(newestOf(' AND o.at <= $1'));
const ofPolicy = prepared('SELECT * FROM policies WHERE policy_id = $1 ORDER BY version');
const all = prepared('SELECT * FROM policies ORDER BY policy_id, version');
const last = prepared('SELECT coalesce(max(id), 0) AS id, coalesce(max(at), 0) AS at FROM policies');
const headSignature = prepared(`SELECT mac FROM heads WHERE name = '${headName}'`);

type Row = SignedRow<PolicyRow>;

interface Snapshot {
  readonly head: SignedRow<HeadRow> | undefined;
  readonly rows: readonly Row[];
}

/** Policies in the database of the keys. Each row is a version; a process holds the newest ones in memory. */
export function createPolicyStore(session: SqlSession, signer: RowSigner): PolicyStore {
  const table = createSignedTable(signer, policyTable);
  const heads = createHeads(session, signer);
  let known:
    | {
        readonly policies: ReadonlyMap<string, KnownPolicy>;
        readonly mac: Uint8Array | undefined;
        readonly until: number;
      }
    | undefined;

  function verified(row: Row): Row {
    if (!table.isAuthentic(row)) throw table.integrityError(`The policy ${row.policy_id}`, row);
    return row;
  }

  function stampsIn(head: SignedRow<HeadRow> | undefined): Map<string, string> {
    if (!head) return new Map();
    if (!heads.isAuthentic(head)) throw integrityError('The head of the policies');
    return new Map(parseJSON(head.content) as unknown as [string, string][]);
  }

  /** @throws {AppError} INTERNAL when a row is damaged, missing or not the newest. */
  function requireNewest({ head, rows }: Snapshot): void {
    const stamps = stampsIn(head);
    for (const row of rows) {
      if (stamps.get(verified(row).policy_id) !== policyStamp(row)) throw integrityError(`The policy ${row.policy_id}`);
    }
    if (stamps.size !== rows.length)
      throw integrityError('The head of the policies, which names others than there are,');
  }

  function* readNewest(): Work<Snapshot> {
    const head = yield* heads.read(headName);
    return { head, rows: yield* query<Row>(newest) };
  }

  async function load(): Promise<NonNullable<typeof known>> {
    const until = performance.now() + maxAgeMs;
    const snapshot = await session.snapshot(readNewest);
    requireNewest(snapshot);
    return { policies: await parsed(snapshot.rows), mac: snapshot.head?.mac, until };
  }

  async function current(): Promise<ReadonlyMap<string, KnownPolicy>> {
    if (known && performance.now() < known.until) return known.policies;
    if (known) {
      const until = performance.now() + maxAgeMs;
      const [row] = await session.all<{ mac: Uint8Array }>(headSignature);
      if (Buffer.compare(row?.mac ?? noMac, known.mac ?? noMac) === 0) {
        known = { ...known, until };
        return known.policies;
      }
    }
    const loaded = await load();
    known = loaded;
    return loaded.policies;
  }

  function* write(changes: readonly PolicyChange[], actor: Actor, now: Date): Work<PolicyVersion[]> {
    // Begins the head, so that there is a row to lock: changes are made one after the other.
    yield* heads.add({ name: headName, sequence: 0n, content: '[]' });
    const head = yield* heads.lock(headName);
    const rows = yield* query<Row>(newest);
    requireNewest({ head, rows });
    const [end] = yield* query<{ id: bigint; at: bigint }>(last);
    const at = new Date(Math.max(now.getTime(), Number(end?.at ?? 0n)));
    const newestRows = new Map<string, PolicyRow>(rows.map((row) => [row.policy_id, row]));
    const written: PolicyVersion[] = [];
    for (const { policyID, policy } of changes) {
      const before = newestRows.get(policyID);
      const version = { policyID, version: Number(before?.version ?? 0n) + 1, at, actor, policy };
      const row = policyToRow((end?.id ?? 0n) + BigInt(written.length + 1), version);
      if (row.definition === (before?.definition ?? null)) continue;
      yield* query(insert, valuesOf(table.signed(row), columns));
      newestRows.set(policyID, row);
      written.push(version);
    }
    const definitions = [...newestRows.values()].flatMap(({ definition }) => definition ?? []);
    requirePolicyCapacity(definitions.map((definition) => Buffer.byteLength(definition)));
    if (written.length > 0) {
      const content = JSON.stringify([...newestRows].map(([policyID, row]) => [policyID, policyStamp(row)]));
      yield* heads.put({ name: headName, sequence: (head?.sequence ?? 0n) + 1n, content });
    }
    return written;
  }

  return {
    current,
    async at(moment) {
      const rows = await session.all<Row>(newestAt, [BigInt(moment.getTime())]);
      return parsed(rows.map(verified));
    },
    async versions() {
      const snapshot = await session.snapshot(readNewest);
      requireNewest(snapshot);
      return snapshot.rows.map(policyFromRow);
    },
    async historyOf(policyID) {
      if (!isBindableText(policyID)) return [];
      return (await session.all<Row>(ofPolicy, [policyID])).map(verified).map(policyFromRow);
    },
    async change(changes, actor, at) {
      try {
        return await session.transaction(() => write(changes, actor, at));
      } finally {
        known = undefined;
      }
    },
    async verify() {
      const { rows, head } = await session.snapshot(function* (): Work<Snapshot> {
        return { head: yield* heads.read(headName), rows: yield* query<Row>(all) };
      });
      return problemsOf(rows, head);
    },
  };

  function problemsOf(rows: readonly Row[], head: SignedRow<HeadRow> | undefined): string[] {
    const problems: string[] = [];
    const newestRows = new Map<string, Row>();
    for (const row of rows) {
      if (!table.isAuthentic(row)) problems.push(`The policy ${row.policy_id} fails the integrity check.`);
      const before = newestRows.get(row.policy_id)?.version ?? 0n;
      if (row.version !== before + 1n) problems.push(`A version of the policy ${row.policy_id} is missing.`);
      newestRows.set(row.policy_id, row);
    }
    if (head && !heads.isAuthentic(head)) return [...problems, 'The head of the policies fails the integrity check.'];
    const stamps = stampsIn(head);
    for (const [policyID, row] of newestRows) {
      if (stamps.get(policyID) !== policyStamp(row))
        problems.push(`The policy ${policyID} is not in its newest state: an older row was put back.`);
    }
    for (const policyID of stamps.keys()) {
      if (!newestRows.has(policyID)) problems.push(`The policy ${policyID} is missing.`);
    }
    return problems;
  }
}

const noMac = new Uint8Array();

/** The policies of rows, without those that were removed. */
async function parsed(rows: readonly PolicyRow[]): Promise<ReadonlyMap<string, KnownPolicy>> {
  const policies = new Map<string, KnownPolicy>();
  for (const [index, row] of rows.entries()) {
    const { policyID, policy, version, at } = policyFromRow(row);
    if (policy) policies.set(policyID, { ...policy, version, changedAt: at });
    if (index % groupSize === groupSize - 1) await nextIteration();
  }
  return policies;
}
