import { AppError } from '../../lib/errors.js';
import type { Telemetry } from '../../telemetry/ports.js';
import {
  complete,
  createGroupEntry,
  maxGroupSize,
  reportGroup,
  type ChangeOutcome,
  type WaitingCaller,
} from '../change-group.js';
import type { KeyRow } from '../records/key.js';
import type { SignedRow } from '../records/signed.js';
import { isBindableText } from '../sql/dialect.js';
import {
  isLarge,
  keyWriteOf,
  writesOfMissing,
  type KeyLookup,
  type KeyRowStatements,
  type KeyWrite,
  type KeyWriter,
  type RowChange,
  type WriteCommand,
} from '../sql/keys/key-rows.js';
import { prepared } from '../sql/session.js';
import { createTimeSlices, type TimeSlices } from '../time-slices.js';
import { inTransaction, type PgPool, type Session } from './pool.js';
import { writeKeys } from './key-writes.js';

interface WaitingWrite extends WaitingCaller {
  readonly keyHash: string;
  readonly change: RowChange<unknown>;
  /** The row of a key of another organisation is neither verified nor passed to the change. */
  readonly orgID: string | undefined;
  /** How often another process changed the key between the read and the write. */
  conflicts: number;
}

/** The changes of one key in the order of their requests, each applied to the result of the one before. */
interface Applied {
  readonly outcomes: readonly ChangeOutcome[];
  /** Undefined when there is nothing to write. */
  readonly write: KeyWrite | undefined;
}

/** The maximum number of concurrent groups. Changes that are requested meanwhile join the next group. */
const maxGroups = 3;
/** After this many conflicts the row of the key is locked, so that its change succeeds. */
const conflictsBeforeLock = 2;
const maxConflicts = 10;

/** Locks rows until the transaction ends, in the order of their hashes, so that no deadlock occurs. */
const lock = prepared('SELECT key_hash FROM keys WHERE key_hash = ANY ($1::text[]) ORDER BY key_hash FOR UPDATE');

/**
 * Writes changes in groups: one read of the keys of all changes that are requested at about the same time, and one
 * statement that writes them: two round trips. A key is never in two groups of a process at once. A change that fails
 * fails alone, and none resolves before it is durable. A single change does not wait for others.
 */
export function createGroupWrite(
  { run }: PgPool,
  { lookUpMany, rowOf }: Pick<KeyRowStatements, 'lookUpMany' | 'rowOf'>,
  telemetry: Telemetry = {},
  slices: TimeSlices = createTimeSlices(),
): KeyWriter {
  const { meter } = telemetry;
  const enter = createGroupEntry(telemetry);
  let waiting: WaitingWrite[] = [];
  meter?.registerGauge('commits_waiting', () => waiting.length);
  const busy = new Set<string>();
  let groups = 0;
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || waiting.length === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      startGroups();
    });
  }

  function startGroups(): void {
    while (groups < maxGroups) {
      const group: WaitingWrite[] = [];
      const rest: WaitingWrite[] = [];
      for (const item of waiting) {
        const isFree = !busy.has(item.keyHash) && group.length < maxGroupSize;
        (isFree ? group : rest).push(item);
      }
      if (group.length === 0) return;
      waiting = rest;
      void runGroup(group);
    }
  }

  async function runGroup(group: readonly WaitingWrite[]): Promise<void> {
    groups += 1;
    const byKey = new Map<string, WaitingWrite[]>();
    for (const item of group) byKey.set(item.keyHash, [...(byKey.get(item.keyHash) ?? []), item]);
    for (const keyHash of byKey.keys()) busy.add(keyHash);
    try {
      await runKeys(byKey);
    } finally {
      groups -= 1;
      for (const keyHash of byKey.keys()) busy.delete(keyHash);
      schedule();
    }
  }

  async function runKeys(byKey: ReadonlyMap<string, readonly WaitingWrite[]>): Promise<void> {
    const items = [...byKey.values()].flat();
    const beginMs = meter ? performance.now() : 0;
    let done: Awaited<ReturnType<typeof lookAndWrite>>;
    try {
      const isContended = items.some(({ conflicts }) => conflicts >= conflictsBeforeLock);
      done = await run((session) =>
        isContended
          ? inTransaction(session, async () => {
              await session.query(lock, [[...byKey.keys()].filter(isBindableText)]);
              return lookAndWrite(session, byKey);
            })
          : lookAndWrite(session, byKey),
      );
    } catch (error) {
      const isOneBad = error instanceof AppError && error.code === 'INTERNAL';
      // What the server rejects of one key must not fail the others.
      if (isOneBad && byKey.size > 1) {
        for (const [keyHash, changes] of byKey) await runKeys(new Map([[keyHash, changes]]));
      } else if (isOneBad && items.length > 1) {
        for (const item of items) await runKeys(new Map([[item.keyHash, [item]]]));
      } else {
        for (const item of items) complete(item, { error });
        meter?.commitFailed();
      }
      return;
    }
    for (const [keyHash, changes] of byKey) {
      const one = done.applied.get(keyHash);
      if (!one || (one.write && !done.written.has(keyHash))) again(changes);
      else changes.forEach((item, index) => complete(item, one.outcomes[index]));
    }
    reportGroup(items, beginMs, meter);
  }

  async function lookAndWrite(session: Session, byKey: ReadonlyMap<string, readonly WaitingWrite[]>) {
    const found = await lookUp(session, [...byKey.keys()]);
    const applied = new Map<string, Applied>();
    for (const [keyHash, changes] of byKey) applied.set(keyHash, await apply(changes, found.get(keyHash)));
    const writes = [...applied.values()].flatMap((one) => one.write ?? []);
    return { applied, written: writes.length > 0 ? await writeKeys(session, writes) : new Set<string>() };
  }

  async function lookUp(session: Session, keyHashes: readonly string[]): Promise<ReadonlyMap<string, KeyLookup>> {
    const found = await session.query<KeyLookup>(lookUpMany, [keyHashes.filter(isBindableText), null]);
    return new Map(found.map((one) => [one.wanted, one]));
  }

  async function apply(changes: readonly WaitingWrite[], found: KeyLookup | undefined): Promise<Applied> {
    let before: SignedRow<KeyRow> | undefined;
    let row: SignedRow<KeyRow> | undefined;
    let isRead = false;
    /** The row as the changes so far have left it, verified for the first change that may see it. */
    function current(orgID: string | undefined): SignedRow<KeyRow> | undefined {
      const owner = row?.org_id ?? found?.org_id ?? undefined;
      if (owner !== undefined && orgID !== undefined && owner !== orgID) return undefined;
      if (!isRead) row = before = rowOf(found);
      isRead = true;
      return row;
    }
    const commands: WriteCommand<unknown>[] = [];
    const outcomes: ChangeOutcome[] = [];
    for (const { change, orgID } of changes) {
      const slice = slices.next();
      if (slice) await slice;
      try {
        const from = current(orgID);
        const command = isLarge(from) && change.applyInSlices ? await change.applyInSlices(from) : change.apply(from);
        row = command.next ?? row;
        commands.push(command);
        outcomes.push({ value: command.result });
      } catch (error) {
        outcomes.push({ error });
      }
    }
    return { outcomes, write: keyWriteOf(before, commands) };
  }

  function again(changes: readonly WaitingWrite[]): void {
    for (const item of changes) item.conflicts += 1;
    const exhausted = changes.filter(({ conflicts }) => conflicts >= maxConflicts);
    for (const item of exhausted) complete(item, { error: busyKey() });
    waiting = [...changes.filter((item) => !exhausted.includes(item)), ...waiting];
  }

  return {
    change: (keyHash, change, orgID) =>
      enter((caller) => {
        waiting.push({ keyHash, change, orgID, conflicts: 0, ...caller });
        schedule();
      }),
    // Adds all in one statement, so all or none. Another process may add one of the keys first.
    add: (changes) =>
      run(async (session) => {
        const found = await session.query<KeyLookup>(lookUpMany, [[...changes.keys()], null]);
        const writes = writesOfMissing(changes, found, rowOf);
        return writes.length > 0 ? writeKeys(session, writes) : new Set();
      }),
  };
}

function busyKey(): AppError {
  return new AppError('UNAVAILABLE', 'Storage is busy; nothing was written.', { retryAfterSeconds: 1 });
}
