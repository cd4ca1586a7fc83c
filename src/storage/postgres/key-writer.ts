import { AppError } from '../../lib/errors.js';
import type { Telemetry } from '../../telemetry/ports.js';
import { maxGroupSize, maxWaiting, whenGathered, type ChangeOutcome } from '../gather.js';
import type { KeyRow, StoredKeyRow } from '../records/key-records.js';
import type { SignedRow } from '../records/signed.js';
import {
  busyError,
  keyWriteOf,
  writesOfMissing,
  type KeyLookup,
  type KeyRowStatements,
  type KeyWrite,
  type KeyWriter,
  type RowChange,
  type WriteCommand,
} from '../sql/keys/key-rows.js';
import { isKeyHash, placesOf } from '../sql/place.js';
import { prepared } from '../sql/session.js';
import type { TimeSlices } from '../time-slices.js';
import { createKnownNames, writeKeys } from './key-writes.js';
import { inTransaction, type PgPool, type Session } from './pool.js';

interface WaitingChange {
  readonly keyHash: string;
  readonly change: RowChange<unknown>;
  readonly orgID: string | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Called after the commit, with the number of changes that it contains. */
  readonly onCommit: ((size: number) => void) | undefined;
  /** How often another process changed the key between the read and the write. */
  conflicts: number;
}

/** What the changes of one key make of its row. */
interface Applied {
  readonly outcomes: readonly ChangeOutcome[];
  readonly write: KeyWrite | undefined;
}

/** The maximum number of concurrent groups. Changes that are requested meanwhile join the next group. */
const maxGroups = 3;
/** After this many conflicts the row of the key is locked, so that its change succeeds. */
const conflictsBeforeLock = 2;
const maxConflicts = 10;

/** Locks rows until the transaction ends, in the order of their hashes, so that no deadlock occurs. */
const lock = prepared(
  `SELECT id FROM keys k WHERE key_hash IN (SELECT decode(hash, 'hex') FROM unnest($1::text[]) AS hash) ORDER BY id FOR UPDATE`,
);

/**
 * Writes changes in groups: reads their keys in one statement and writes them in another, two round trips. Rows are not
 * locked, unless they are contended: a key that another process changes in between is not written, and joins a later group.
 * The changes of a key are applied in their order, each to the result of the one before, and a key is in one group at a time.
 */
export function createKeyWriter(
  { run }: PgPool,
  { lookUpMany, rowOf }: Pick<KeyRowStatements, 'lookUpMany' | 'rowOf'>,
  slices: TimeSlices,
  meter?: Telemetry['meter'],
): KeyWriter {
  const names = createKnownNames();
  let waiting: WaitingChange[] = [];
  meter?.registerGauge('commits_waiting', () => waiting.length);
  const busy = new Set<string>();
  let groups = 0;
  let isStarting = false;
  const isFree = ({ keyHash }: WaitingChange) => !busy.has(keyHash);

  /** Starts a group, unless one is starting already, which takes the waiting changes. */
  function schedule(): void {
    if (isStarting || groups >= maxGroups || !waiting.some(isFree)) return;
    isStarting = true;
    groups += 1;
    whenGathered(
      () => waiting.length,
      () => void startGroup(),
    );
  }

  async function startGroup(): Promise<void> {
    isStarting = false;
    const group: WaitingChange[] = [];
    const rest: WaitingChange[] = [];
    for (const item of waiting) (isFree(item) && group.length < maxGroupSize ? group : rest).push(item);
    waiting = rest;
    for (const { keyHash } of group) busy.add(keyHash);
    schedule();
    try {
      await writeGroup(group);
    } finally {
      groups -= 1;
      schedule();
    }
  }

  /** @param later - further changes of the only key of the group, in parts that are written after it, before any other */
  async function writeGroup(
    changes: readonly WaitingChange[],
    later: readonly (readonly WaitingChange[])[] = [],
  ): Promise<void> {
    const group = byKey(changes);
    const isContended = changes.some(({ conflicts }) => conflicts >= conflictsBeforeLock);
    const beginMs = performance.now();
    let outcomes: ReadonlyMap<string, readonly ChangeOutcome[]>;
    try {
      outcomes = await run((session) => write(session, group, isContended));
    } catch (error) {
      await failed(changes, error, later);
      return;
    }
    const committed: WaitingChange[] = [];
    const left: WaitingChange[] = [];
    for (const [keyHash, ofKey] of group) {
      if (later.length === 0) busy.delete(keyHash);
      const found = outcomes.get(keyHash);
      for (const [index, item] of ofKey.entries()) {
        const outcome = found?.[index];
        if (outcome) {
          committed.push(item);
          if ('value' in outcome) item.resolve(outcome.value);
          else item.reject(outcome.error);
        } else if ((item.conflicts += 1) >= maxConflicts) item.reject(busyError());
        else left.push(item);
      }
    }
    const rest = writeLater(left, later);
    if (committed.length > 0) meter?.committed(committed.length, (performance.now() - beginMs) / 1000);
    for (const { onCommit } of committed) onCommit?.(committed.length);
    await rest;
  }

  /** Returns the outcomes of the changes of each key, except those of keys that another process has changed since they were read. */
  async function write(
    session: Session,
    group: ReadonlyMap<string, readonly WaitingChange[]>,
    isContended: boolean,
  ): Promise<ReadonlyMap<string, readonly ChangeOutcome[]>> {
    const bindable = [...group.keys()].filter(isKeyHash);
    const lookAndWrite = async () => {
      const rows = await session.query<KeyLookup & { readonly wanted: string }>(lookUpMany, [placesOf(bindable), null]);
      const found = new Map(rows.map((row) => [row.wanted, row]));
      const outcomes = new Map<string, readonly ChangeOutcome[]>();
      const writes: KeyWrite[] = [];
      for (const [keyHash, changes] of group) {
        const slice = slices.next();
        if (slice) await slice;
        const applied = applyInOrder(changes, found.get(keyHash));
        outcomes.set(keyHash, applied.outcomes);
        if (applied.write) writes.push(applied.write);
      }
      const known = isContended ? undefined : names;
      const written = writes.length > 0 ? await writeKeys(session, writes, known) : new Set<string>();
      for (const { row } of writes) if (!written.has(row.key_hash)) outcomes.delete(row.key_hash);
      return outcomes;
    };
    if (!isContended) return lookAndWrite();
    return inTransaction(session, async () => {
      await session.query(lock, [bindable]);
      return lookAndWrite();
    });
  }

  /** The row as the changes so far have left it is verified for the first change that may see it. */
  function applyInOrder(changes: readonly WaitingChange[], found: KeyLookup | undefined): Applied {
    const outcomes: ChangeOutcome[] = [];
    const commands: WriteCommand<unknown>[] = [];
    let before: StoredKeyRow | undefined;
    let row: SignedRow<KeyRow> | undefined;
    for (const { change, orgID } of changes) {
      try {
        const owner = row?.org_id ?? found?.org_id ?? undefined;
        const isOfAnother = owner !== undefined && owner !== (orgID ?? owner);
        if (!isOfAnother) row ??= before = rowOf(found, orgID);
        const command = change(isOfAnother ? undefined : row);
        row = command.next ?? row;
        commands.push(command);
        outcomes.push({ value: command.result });
      } catch (error) {
        outcomes.push({ error });
      }
    }
    return { outcomes, write: keyWriteOf(before, commands) };
  }

  function queueAgain(left: readonly WaitingChange[]): void {
    waiting = [...left, ...waiting];
    schedule();
  }

  /** Writes the next part of the changes of a key, which stays busy, after those that are left of the part before. */
  async function writeLater(
    left: readonly WaitingChange[],
    [next, ...later]: readonly (readonly WaitingChange[])[],
  ): Promise<void> {
    if (next) await writeGroup([...left, ...next], later);
    else queueAgain(left);
  }

  /**
   * Nothing was written. What the database rejects of one change must not fail the others. They are split by their keys, and
   * the changes of one key into parts that are written one after the other, before any later change of the key.
   */
  async function failed(
    changes: readonly WaitingChange[],
    error: unknown,
    later: readonly (readonly WaitingChange[])[],
  ): Promise<void> {
    const isOfAll = error instanceof AppError && error.code === 'UNAVAILABLE';
    const keys = [...byKey(changes).values()];
    if (!isOfAll && keys.length > 1) {
      for (const half of halvesOf(keys)) await writeGroup(half.flat());
      return;
    }
    if (!isOfAll && changes.length > 1) {
      const [first, second] = halvesOf(changes);
      await writeGroup(first, [second, ...later]);
      return;
    }
    for (const { keyHash, reject } of changes) {
      if (later.length === 0) busy.delete(keyHash);
      reject(error);
    }
    const rest = writeLater([], later);
    meter?.commitFailed();
    await rest;
  }

  return {
    change: <T>(
      keyHash: string,
      change: RowChange<T>,
      orgID: string | undefined,
      onCommit: WaitingChange['onCommit'],
    ) =>
      new Promise<T>((resolve, reject) => {
        if (waiting.length >= maxWaiting) return reject(busyError());
        const settle = { resolve: resolve as WaitingChange['resolve'], reject };
        waiting.push({ keyHash, change, orgID, onCommit, conflicts: 0, ...settle });
        schedule();
      }),
    // Adds all in one statement, so all or none. Another process may add one of the keys first.
    add: (changes) =>
      run(async (session) => {
        const found = await session.query<KeyLookup>(lookUpMany, [placesOf([...changes.keys()]), null]);
        const writes = writesOfMissing(changes, found, rowOf);
        return writes.length > 0 ? writeKeys(session, writes, names) : new Set();
      }),
  };
}

function halvesOf<T>(items: readonly T[]): [T[], T[]] {
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
}

function byKey(changes: readonly WaitingChange[]): ReadonlyMap<string, readonly WaitingChange[]> {
  const group = new Map<string, WaitingChange[]>();
  for (const item of changes) {
    const same = group.get(item.keyHash);
    if (same) same.push(item);
    else group.set(item.keyHash, [item]);
  }
  return group;
}
