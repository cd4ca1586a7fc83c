import { SqliteError, type Database } from 'better-sqlite3';
import { AppError } from '../../lib/errors.js';
import type { Telemetry } from '../../telemetry/ports.js';
import type { RunExclusive } from '../storage.js';
import {
  complete,
  createGroupEntry,
  maxGroupSize,
  reportGroup,
  type ChangeOutcome,
  type WaitingCaller,
} from '../change-group.js';
import { isFatalToWrites, retryOnBusy } from './errors.js';

/** A change of keys, which the group writer reports. */
export interface KeyCommit {
  /** If the change has waited for others already: called when it is the turn of this process to write. */
  readonly onTaken?: () => void;
}

interface WaitingCommit extends WaitingCaller {
  readonly change: () => unknown;
  readonly keys: KeyCommit | undefined;
}

/** What is checked around each group. All throw an error with which the whole group is rejected. */
interface WriteChecks {
  /** Before anything is written. */
  readonly requireSound: () => void;
  /** In the transaction, before anything is written. */
  readonly requireUnmigrated: () => void;
  /** After the commit, before any change is acknowledged. */
  readonly verifyFiles: () => void;
}

/** No further change of a group begins after this time. Those that are left make the next group. */
export const maxGroupMs = 10;

/**
 * Commits the changes that are requested at about the same time in one transaction, because syncing many costs as much
 * as syncing one. Within a group each change has a savepoint, so that one that throws is undone alone; a lone change has
 * the transaction. Changes therefore open no transaction themselves. None is resolved before all are durable, and all
 * are rejected when the commit fails.
 */
export function createGroupCommit(
  database: Database,
  { requireSound, requireUnmigrated, verifyFiles }: WriteChecks,
  telemetry: Telemetry = {},
  runExclusive: RunExclusive = (work) => work(),
  nowMs: () => number = () => performance.now(),
) {
  const { meter } = telemetry;
  const enter = createGroupEntry(telemetry);
  const enterUnreported = createGroupEntry({});
  let waiting: WaitingCommit[] = [];
  const reported = (group: readonly WaitingCommit[]) => group.filter(({ keys }) => !keys);
  meter?.registerGauge('commits_waiting', () => reported(waiting).length);

  /** A savepoint within a group; a transaction of its own otherwise. */
  const atomically = database.transaction((change: () => unknown) => change());

  function attempt({ change }: WaitingCommit): ChangeOutcome {
    try {
      return { value: atomically(change) };
    } catch (error) {
      // Some errors of the disk roll the whole transaction back, with the changes before this one; after others no change
      // of the group may be committed.
      if (!database.inTransaction || isFatalToWrites(error)) throw error;
      return { error };
    }
  }
  /** The outcomes of the changes that were begun. */
  const attemptAll = database.transaction((group: readonly WaitingCommit[]) => {
    requireUnmigrated();
    const endMs = nowMs() + maxGroupMs;
    const outcomes: ChangeOutcome[] = [];
    for (const waiter of group) {
      outcomes.push(attempt(waiter));
      if (nowMs() >= endMs) break;
    }
    return outcomes;
  });
  const attemptLone = database.transaction((change: () => unknown) => {
    requireUnmigrated();
    return change();
  });

  function run(group: readonly WaitingCommit[]): ChangeOutcome[] {
    requireSound();
    const [first] = group;
    return group.length === 1 && first ? [{ value: attemptLone.immediate(first.change) }] : attemptAll.immediate(group);
  }

  async function commit(all: readonly WaitingCommit[]): Promise<void> {
    let group = all;
    const beginMs = meter ? performance.now() : 0;
    let outcomes: readonly ChangeOutcome[];
    try {
      outcomes = await retryOnBusy(() => run(group));
      verifyFiles();
      group = all.slice(0, outcomes.length);
      if (group.length < all.length) {
        waiting = [...all.slice(group.length), ...waiting];
        setImmediate(commitWaiting);
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
      if (isOfStorage(error) && reported(group).length > 0) meter?.commitFailed();
      return;
    }
    group.forEach((waiter, index) => complete(waiter, outcomes[index]));
    reportGroup(reported(group), beginMs, meter);
  }

  function commitWaiting(): void {
    void runExclusive(async () => {
      // Taken only now: changes that are requested while this process waits for its turn join the group.
      const group = waiting.slice(0, maxGroupSize);
      waiting = waiting.slice(maxGroupSize);
      if (group.length === 0) return;
      if (waiting.length > 0) setImmediate(commitWaiting);
      for (const { keys } of group) keys?.onTaken?.();
      await commit(group);
    });
  }

  return <T>(change: () => T, keys?: KeyCommit): Promise<T> =>
    (keys ? enterUnreported : enter)<T>((caller) => {
      waiting.push({ change, keys, ...caller });
      if (keys?.onTaken) commitWaiting();
      else if (waiting.length === 1) setImmediate(commitWaiting);
    });
}

/** A lone change that is rejected, such as one of a key that does not exist, is no failure of storage. */
function isOfStorage(error: unknown): boolean {
  return !(error instanceof AppError) || error.cause instanceof SqliteError;
}
