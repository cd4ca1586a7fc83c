import { AppError } from '../../../lib/errors.js';
import type { Telemetry } from '../../../telemetry/ports.js';
import { complete, maxGroupSize, type ChangeOutcome, type WaitingCaller } from '../../change-group.js';
import type { KeyRow, StoredKeyRow } from '../../records/key.js';
import type { SignedRow } from '../../records/signed.js';
import type { Steps } from '../../time-slices.js';
import {
  keyWriteOf,
  type KeyLookup,
  type KeyRowStatements,
  type KeyWrite,
  type RowChange,
  type WriteCommand,
} from './key-rows.js';

/** How an engine reads and writes keys. A promise resolves when the write is durable. */
export interface KeyGroups {
  /** The maximum number of concurrent groups. Changes that are requested meanwhile join the next group. */
  readonly maxGroups: number;
  readonly write: WriteGroup;
  /**
   * Applies changes, by the hashes of their keys, in one transaction, except those of keys that exist.
   *
   * @returns the hashes of the keys that were added.
   */
  readonly add: (changes: ReadonlyMap<string, RowChange<unknown>>) => Promise<ReadonlySet<string>>;
}

/**
 * Takes a group as late as possible, so that changes that are requested meanwhile join it, reads its rows, and writes what
 * `apply` returns, all or nothing. UNAVAILABLE concerns the whole group, any other error one of its changes.
 */
export type WriteGroup = (take: () => KeyGroup) => Promise<WrittenGroup>;

/** The changes of a group, as the engine sees them. */
export interface KeyGroup {
  readonly keyHashes: readonly string[];
  /** The organisation that all changes of a key are limited to, if any: a row of another need not be read. */
  readonly orgOf: (keyHash: string) => string | undefined;
  /** Whether other processes have changed some of the keys several times between the read and the write: rows are locked then. */
  readonly isContended: boolean;
  /**
   * Applies the changes of one key to its row, and returns what to write, if anything. It may run again.
   *
   * @param isLate - whether no further change is to begin; those that are left join a later group
   */
  readonly apply: (
    keyHash: string,
    found: KeyLookup | undefined,
    isLate?: () => boolean,
  ) => Steps<KeyWrite | undefined>;
}

/** What was not written. Changes of other keys that were not applied join a later group, too. */
export interface WrittenGroup {
  /** Keys that another process has changed since they were read. */
  readonly conflicts?: ReadonlySet<string>;
  /** Keys that would hold up the others, each with a function that writes it alone. */
  readonly separately?: ReadonlyMap<string, WriteGroup>;
}

interface WaitingChange extends WaitingCaller {
  readonly keyHash: string;
  readonly change: RowChange<unknown>;
  /** The row of a key of another organisation is neither verified nor passed to the change. */
  readonly orgID: string | undefined;
  /** How often another process changed the key between the read and the write. */
  conflicts: number;
  /** Called after the commit, with the number of changes that it contains. */
  readonly onCommit: ((size: number) => void) | undefined;
}

/** The changes of one key in the order of their requests, and the outcomes of those that were applied. */
interface KeyChanges {
  readonly changes: WaitingChange[];
  outcomes: ChangeOutcome[];
}

/** The maximum time for which a group waits for more changes. */
const maxDelayMs = 5;
/** After this many conflicts the row of the key is locked, so that its change succeeds. */
const conflictsBeforeLock = 2;
const maxConflicts = 10;
/** As many as new requests that may wait. A database that is slower than the requests would let them wait without end. */
const maxWaiting = 500;

/**
 * Writes changes in groups, because a group costs an engine little more than one change. The changes of a key are applied in
 * their order, each to the result of the one before, and a key is in one group at a time. A change that fails fails alone, and
 * none resolves before it is durable. A single change does not wait for others.
 */
export function createGroupWriter(
  { maxGroups, write }: Pick<KeyGroups, 'maxGroups' | 'write'>,
  { rowOf }: Pick<KeyRowStatements, 'rowOf'>,
  { meter, tracer }: Telemetry = {},
) {
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
    setImmediate(startWhenComplete, waiting.length, performance.now() + maxDelayMs);
  }

  /**
   * Starts a group once an iteration of the event loop adds no change, the group is full, or `untilMs` is reached: admission
   * control starts requests that arrived together in several iterations.
   */
  function startWhenComplete(seen: number, untilMs: number): void {
    const { length } = waiting;
    if (length !== seen && length < maxGroupSize && performance.now() < untilMs) {
      setImmediate(startWhenComplete, length, untilMs);
      return;
    }
    void startGroup();
  }

  async function startGroup(): Promise<void> {
    try {
      await writeGroup(write, takeFree);
    } finally {
      groups -= 1;
      schedule();
    }
  }

  function takeFree(): readonly WaitingChange[] {
    isStarting = false;
    const group: WaitingChange[] = [];
    const rest: WaitingChange[] = [];
    for (const item of waiting) (isFree(item) && group.length < maxGroupSize ? group : rest).push(item);
    waiting = rest;
    for (const { keyHash } of group) busy.add(keyHash);
    schedule();
    return group;
  }

  /** @param later - further changes of the only key of the group, in parts that are written after it, before any other */
  async function writeGroup(
    writeIt: WriteGroup,
    take: () => readonly WaitingChange[],
    later: readonly (readonly WaitingChange[])[] = [],
  ): Promise<void> {
    let taken: readonly WaitingChange[] = [];
    let group: ReadonlyMap<string, KeyChanges> = new Map();
    let beginMs = 0;
    let result: WrittenGroup;
    try {
      result = await writeIt(() => {
        taken = take();
        group = byKey(taken);
        beginMs = performance.now();
        return {
          keyHashes: [...group.keys()],
          orgOf: (keyHash) => orgOf(group.get(keyHash)),
          isContended: taken.some(({ conflicts }) => conflicts >= conflictsBeforeLock),
          apply: (keyHash, found, isLate) => applyInOrder(group.get(keyHash), found, isLate),
        };
      });
    } catch (error) {
      await failed(taken, error, later);
      return;
    }
    const { conflicts, separately } = result;
    const completed: WaitingChange[] = [];
    const left: WaitingChange[] = [];
    for (const [keyHash, { changes, outcomes }] of group) {
      if (separately?.has(keyHash)) continue;
      if (later.length === 0) busy.delete(keyHash);
      const isConflict = conflicts?.has(keyHash) === true;
      for (const [index, item] of changes.entries()) {
        const outcome = isConflict ? undefined : outcomes[index];
        if (isConflict) item.conflicts += 1;
        if (outcome) completed.push(item);
        if (outcome || item.conflicts >= maxConflicts) complete(item, outcome ?? { error: busyKey() });
        else left.push(item);
      }
    }
    const others = [...(separately ?? [])].map(([keyHash, writeOne]) =>
      writeGroup(writeOne, () => group.get(keyHash)?.changes ?? [], later),
    );
    if (others.length === 0) others.push(writeLater(left, later));
    else queueAgain(left);
    report(completed, beginMs);
    await Promise.all(others);
  }

  function queueAgain(left: readonly WaitingChange[]): void {
    if (left.length > 0) waiting = [...left, ...waiting];
    schedule();
  }

  /** Writes the next part of the changes of a key, which stays busy, after those that are left of the part before. */
  async function writeLater(
    left: readonly WaitingChange[],
    [next, ...later]: readonly (readonly WaitingChange[])[],
  ): Promise<void> {
    if (next) await writeGroup(write, () => [...left, ...next], later);
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
    const keys = [...byKey(changes).values()].map((key) => key.changes);
    if (!isOfAll && keys.length > 1) {
      for (const half of halvesOf(keys)) await writeGroup(write, () => half.flat());
      return;
    }
    if (!isOfAll && changes.length > 1) {
      const [first, second] = halvesOf(changes);
      await writeGroup(write, () => first, [second, ...later]);
      return;
    }
    for (const item of changes) {
      if (later.length === 0) busy.delete(item.keyHash);
      complete(item, { error });
    }
    const rest = writeLater([], later);
    meter?.commitFailed();
    await rest;
  }

  /** The row as the changes so far have left it is verified for the first change that may see it. */
  function* applyInOrder(
    key: KeyChanges | undefined,
    found: KeyLookup | undefined,
    isLate?: () => boolean,
  ): Steps<KeyWrite | undefined> {
    const outcomes: ChangeOutcome[] = [];
    if (key) key.outcomes = outcomes;
    let before: StoredKeyRow | undefined;
    let row: SignedRow<KeyRow> | undefined;
    const commands: WriteCommand<unknown>[] = [];
    for (const { change, orgID } of key?.changes ?? []) {
      if (outcomes.length > 0 && isLate?.()) break;
      try {
        const owner = row?.org_id ?? found?.org_id ?? undefined;
        const isOfAnother = owner !== undefined && owner !== (orgID ?? owner);
        if (!isOfAnother) row ??= before = rowOf(found, orgID);
        const command = yield* change(isOfAnother ? undefined : row);
        row = command.next ?? row;
        commands.push(command);
        outcomes.push({ value: command.result });
      } catch (error) {
        outcomes.push({ error });
      }
    }
    return keyWriteOf(before, commands);
  }

  /** Called after the changes are resolved, because an error of telemetry must not reject what is committed. */
  function report(committed: readonly WaitingChange[], beginMs: number): void {
    if (committed.length > 0) meter?.committed(committed.length, (performance.now() - beginMs) / 1000);
    for (const { onCommit } of committed) onCommit?.(committed.length);
  }

  const enqueue = <T>(keyHash: string, change: RowChange<T>, orgID?: string, onCommit?: WaitingChange['onCommit']) =>
    new Promise<T>((resolve, reject) => {
      if (waiting.length >= maxWaiting) return reject(busyKey());
      waiting.push({
        keyHash,
        change,
        orgID,
        conflicts: 0,
        onCommit,
        resolve: resolve as WaitingCaller['resolve'],
        reject,
      });
      schedule();
    });

  /** Reads the row, applies the change and writes the result. If the change throws, it fails alone; UNAVAILABLE if too many wait. */
  return <T>(keyHash: string, change: RowChange<T>, orgID?: string): Promise<T> =>
    tracer
      ? tracer.withSpan('commit', {}, (setAttributes) =>
          enqueue(keyHash, change, orgID, (size) => setAttributes({ 'keyfront.commit.batch_size': size })),
        )
      : enqueue(keyHash, change, orgID);
}

function halvesOf<T>(items: readonly T[]): [T[], T[]] {
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
}

function byKey(changes: readonly WaitingChange[]): ReadonlyMap<string, KeyChanges> {
  const group = new Map<string, KeyChanges>();
  for (const item of changes) {
    const same = group.get(item.keyHash);
    if (same) same.changes.push(item);
    else group.set(item.keyHash, { changes: [item], outcomes: [] });
  }
  return group;
}

function orgOf(key: KeyChanges | undefined): string | undefined {
  const orgID = key?.changes[0]?.orgID;
  return key?.changes.every((change) => change.orgID === orgID) === true ? orgID : undefined;
}

function busyKey(): AppError {
  return new AppError('UNAVAILABLE', 'Storage is busy; nothing was written.', { retryAfterSeconds: 1 });
}
