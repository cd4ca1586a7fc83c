import {
  requirePolicyCapacity,
  type KnownPolicy,
  type PolicyChange,
  type PolicyDecision,
  type PolicySet,
  type PolicyStore,
} from '../../keys/access/policy-store.js';
import type { Actor } from '../../keys/key.js';
import type { Receipt } from '../../keys/receipt.js';
import { AppError } from '../../lib/errors.js';
import type { RowSigner } from '../../crypto/row-signer.js';
import { parseJSON } from '../../lib/json.js';
import type { HeadRow } from '../records/head.js';
import {
  policyDigest,
  policyFromRow,
  policyStamp,
  policyTable,
  policyToRow,
  stampOf,
  type PolicyRow,
} from '../records/policy.js';
import { createSignedTable, integrityError, type SignedRow } from '../records/signed.js';
import { mapInSlices, type TimeSlices } from '../time-slices.js';
import { isBindableText } from './dialect.js';
import { createHeads } from './heads.js';
import { insertReceipt, receiptValues } from './keys/receipts.js';
import { insertInto, prepared, query, valuesOf, type SqlSession, type Work } from './session.js';

/** The head has the newest version of each policy, so that an older row that is put back, or a missing one, shows. */
const headName = 'policies';

/** How long policies are used without a look at the database. */
const maxAgeMs = 1000;

const maxAttempts = 20;

const columns = policyTable.columnNames;
const insert = prepared(insertInto('policies', columns));
const newestOf = (condition: string) =>
  `SELECT p.* FROM policies p WHERE p.version = (
     SELECT max(o.version) FROM policies o WHERE o.policy_id = p.policy_id${condition}
   ) ORDER BY p.policy_id`;
const newest = prepared(newestOf(''));
const newestAt = prepared(newestOf(' AND o.at <= $1'));
/** The newest or oldest versions in a range, as far as they are 4 MiB in all, and at least two. */
const historyOf = (direction: 'ASC' | 'DESC') =>
  prepared(`SELECT p.* FROM policies p JOIN (
      SELECT id, sum(length(coalesce(definition, ''))) OVER (ORDER BY version ${direction}) AS bytes,
        row_number() OVER (ORDER BY version ${direction}) AS place
      FROM policies WHERE policy_id = $1 AND version > $2 AND version < $3 ORDER BY version ${direction} LIMIT $4
    ) sized ON sized.id = p.id WHERE sized.bytes <= 4194304 OR sized.place <= 2 ORDER BY p.version ${direction}`);
const historyUp = historyOf('ASC');
const historyDown = historyOf('DESC');
const newestVersion = prepared('SELECT coalesce(max(version), 0) AS version FROM policies WHERE policy_id = $1');
const all = prepared('SELECT * FROM policies ORDER BY policy_id, version');
const last = prepared('SELECT coalesce(max(id), 0) AS id, coalesce(max(at), 0) AS at FROM policies');
const headSignature = prepared(`SELECT mac FROM heads WHERE name = '${headName}'`);

type Row = SignedRow<PolicyRow>;

/** The newest version of a policy, also of a removed one, without its content. */
interface Newest {
  readonly version: bigint;
  readonly digest: string;
  readonly bytes: number;
}

/** The policies that a process holds in memory, and what a change of them needs. */
interface Known extends PolicySet {
  /** The signature of their head; undefined before the first change. */
  readonly mac: Uint8Array | undefined;
  readonly newest: ReadonlyMap<string, Newest>;
  /** The last row of all. */
  readonly end: { readonly id: bigint; readonly at: bigint };
  /** When they must be compared with the database, in milliseconds of a clock that is never set. */
  readonly until: number;
}

interface Snapshot {
  readonly head: SignedRow<HeadRow> | undefined;
  readonly rows: readonly Row[];
  readonly end: Known['end'];
}

/** Policies in the database of the keys. Each row is a version; a process holds the newest ones in memory. */
export function createPolicyStore(
  session: SqlSession,
  signer: RowSigner,
  slices: TimeSlices,
  nowMs: () => number = () => performance.now(),
): PolicyStore {
  const table = createSignedTable(signer, policyTable);
  const heads = createHeads(session, signer);
  let known: Known | undefined;
  let reading: Promise<Known> | undefined;
  let lastChange: Promise<unknown> = Promise.resolve();

  function verified(row: Row): Row {
    if (!table.isAuthentic(row)) throw table.integrityError(`The policy ${row.policy_id}`, row);
    return row;
  }

  function stampsIn(head: SignedRow<HeadRow> | undefined): Map<string, string> {
    if (!head) return new Map();
    if (!heads.isAuthentic(head)) throw integrityError('The head of the policies');
    return new Map(parseJSON(head.content) as unknown as [string, string][]);
  }

  function* readNewest(): Work<Snapshot> {
    const head = yield* heads.read(headName);
    const rows = yield* query<Row>(newest);
    const [end = noRow] = yield* query<Known['end']>(last);
    return { head, rows, end };
  }

  /** @throws {AppError} INTERNAL when a row is damaged, missing or not the newest. */
  async function load(until: number): Promise<Known> {
    const { head, rows, end } = await session.snapshot(readNewest);
    const stamps = stampsIn(head);
    if (stamps.size !== rows.length)
      throw integrityError('The head of the policies, which names others than there are,');
    const policies = new Map<string, KnownPolicy>();
    const newestOfEach = new Map<string, Newest>();
    for (const row of rows) {
      await slices.next();
      const stamp = policyStamp(verified(row));
      if (stamps.get(row.policy_id) !== stamp) throw integrityError(`The policy ${row.policy_id}`);
      newestOfEach.set(row.policy_id, newestFrom(row));
      const policy = knownPolicyFrom(row);
      if (policy) policies.set(row.policy_id, policy);
    }
    return { version: Number(head?.sequence ?? 0n), policies, mac: head?.mac, newest: newestOfEach, end, until };
  }

  /** Returns what is in memory if its head is still that of the database, otherwise the policies of the database. */
  async function read(before: Known | undefined): Promise<Known> {
    const until = nowMs() + maxAgeMs;
    if (!before) return load(until);
    const [row] = await session.all<{ mac: Uint8Array }>(headSignature);
    return isSameMac(row?.mac, before.mac) ? { ...before, until } : load(until);
  }

  const isFresh = (one: Known | undefined): one is Known => one !== undefined && nowMs() < one.until;

  async function currentSet(): Promise<Known> {
    if (isFresh(known)) return known;
    const started = (reading ??= read(known));
    try {
      const next = await started;
      // A change of this process since then has ended the read: what it returns may be older.
      if (reading === started) known = next;
      return next;
    } finally {
      if (reading === started) reading = undefined;
    }
  }

  /** Signs the rows of changes, without those that change nothing. @throws {AppError} CONFLICT when they are too many or too large. */
  async function signedRows(base: Known, changes: readonly PolicyChange[], actor: Actor, now: Date): Promise<Row[]> {
    const at = new Date(Math.max(now.getTime(), Number(base.end.at)));
    const sizes = new Map([...base.newest].map(([policyID, { bytes }]) => [policyID, bytes]));
    const rows: Row[] = [];
    for (const { policyID, policy } of changes) {
      await slices.next();
      const before = base.newest.get(policyID);
      if (!before && !policy) continue;
      const version = Number(before?.version ?? 0n) + 1;
      const row = policyToRow(base.end.id + BigInt(rows.length + 1), { policyID, version, at, actor, policy });
      if (before?.digest === policyDigest(row)) continue;
      rows.push(table.signed(row));
      sizes.set(policyID, bytesOf(row));
    }
    requirePolicyCapacity([...sizes.values()].filter((size) => size > 0));
    return rows;
  }

  /** Writes rows and their head. Returns whether the base was still the newest; otherwise nothing is written. */
  function* write(base: Known, rows: readonly Row[], receipt: Receipt | undefined): Work<boolean> {
    // Begins the head, so that there is a row to lock: changes are made one after the other.
    if (!base.mac) yield* heads.add({ name: headName, sequence: 0n, content: '[]' });
    const head = yield* heads.lock(headName);
    if (base.mac ? !isSameMac(head?.mac, base.mac) : head?.sequence !== 0n) return false;
    for (const row of rows) yield* query(insert, valuesOf(row, columns));
    const stamps = new Map([...base.newest].map(([policyID, one]) => [policyID, stampOf(one)]));
    for (const row of rows) stamps.set(row.policy_id, policyStamp(row));
    yield* heads.put({ name: headName, sequence: BigInt(base.version + 1), content: JSON.stringify([...stamps]) });
    if (receipt) yield* query(insertReceipt, receiptValues(receipt));
    return true;
  }

  async function change<Result>(
    decide: (known: PolicySet) => PolicyDecision<Result> | Promise<PolicyDecision<Result>>,
    actor: Actor,
    now: Date,
  ): Promise<Result> {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const base = await read(known);
      const { changes, resultAt, receiptOf } = await decide(base);
      const rows = await signedRows(base, changes, actor, now);
      if (rows.length === 0) return resultAt(base.version);
      const result = resultAt(base.version + 1);
      try {
        if (await session.transaction(() => write(base, rows, receiptOf?.(result)))) return result;
      } finally {
        // The next use reads the database.
        known = undefined;
        reading = undefined;
      }
    }
    throw new AppError('UNAVAILABLE', 'Other changes of policies came first; nothing was changed.', {
      retryAfterSeconds: 1,
    });
  }

  return {
    current: async () => (await currentSet()).policies,
    cached: () => (isFresh(known) ? known.policies : undefined),
    currentSet,
    async at(moment) {
      const rows = await session.all<Row>(newestAt, [BigInt(moment.getTime())]);
      const policies = new Map<string, KnownPolicy>();
      for (const row of rows) {
        await slices.next();
        const policy = knownPolicyFrom(verified(row));
        if (policy) policies.set(row.policy_id, policy);
      }
      return policies;
    },
    async historyOf(policyID, { after = 0, before = Number.MAX_SAFE_INTEGER, last: isLast = false, limit }) {
      if (!isBindableText(policyID)) return { versions: [], newest: 0 };
      const values = [policyID, BigInt(after), BigInt(before), BigInt(limit)];
      const rows = await session.all<Row>(isLast ? historyDown : historyUp, values);
      const versions = await mapInSlices(slices, rows, (row) => policyFromRow(verified(row)));
      const [newest] = await session.all<{ version: bigint }>(newestVersion, [policyID]);
      return { versions: isLast ? versions.toReversed() : versions, newest: Number(newest?.version ?? 0n) };
    },
    change(decide, actor, now) {
      // One after the other in this process, so that none has to be decided again because of another.
      const done = lastChange.then(() => change(decide, actor, now));
      lastChange = done.catch(() => undefined);
      return done;
    },
    async verify() {
      const { rows, head } = await session.snapshot(function* (): Work<Pick<Snapshot, 'head' | 'rows'>> {
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

const noRow = { id: 0n, at: 0n };

function isSameMac(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a && b ? Buffer.compare(a, b) === 0 : a === b;
}

function bytesOf({ definition }: PolicyRow): number {
  return definition === null ? 0 : Buffer.byteLength(definition);
}

function newestFrom(row: PolicyRow): Newest {
  return { version: row.version, digest: policyDigest(row), bytes: bytesOf(row) };
}

/** The policy of a row; undefined if it was removed. */
function knownPolicyFrom(row: PolicyRow): KnownPolicy | undefined {
  const { policy, version, at: changedAt, actor: changedBy } = policyFromRow(row);
  return policy && { ...policy, version, changedAt, changedBy };
}
