import type { Database } from 'better-sqlite3';
import type { RunExclusive } from '../storage.js';
import { complete, maxGroupSize, type ChangeOutcome, type WaitingCaller } from '../change-group.js';
import { isFatalToWrites, retryOnBusy } from './errors.js';

interface WaitingCommit extends WaitingCaller {
  readonly change: () => unknown;
  readonly onStart: (() => void) | undefined;
}

/** What is checked around each group. All throw an error with which the whole group is rejected. */
interface WriteChecks {
  /** Before anything is written. */
  readonly requireSound: () => void;
  /** In the transaction, before anything is written. */
  readonly requireUnmigrated: () => void;
  /** After the commit, before any change is acknowledged. */
  readonly verifyFiles: () => void;
  /** After the changes are acknowledged. Does not throw. */
  readonly onCommit: () => void;
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
  { requireSound, requireUnmigrated, verifyFiles, onCommit }: WriteChecks,
  runExclusive: RunExclusive = (work) => work(),
  nowMs: () => number = () => performance.now(),
) {
  let waiting: WaitingCommit[] = [];

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
      return;
    }
    group.forEach((waiter, index) => complete(waiter, outcomes[index]));
    onCommit();
  }

  function commitWaiting(): void {
    void runExclusive(async () => {
      // Taken only now: changes that are requested while another process writes join the group.
      const group = waiting.slice(0, maxGroupSize);
      waiting = waiting.slice(maxGroupSize);
      if (group.length === 0) return;
      if (waiting.length > 0) setImmediate(commitWaiting);
      for (const { onStart } of group) onStart?.();
      await commit(group);
    });
  }

  /** @param onStart - for a change that others have joined already, so that it does not wait: called before its group starts */
  return <T>(change: () => T, onStart?: () => void): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ change, onStart, resolve: resolve as WaitingCaller['resolve'], reject });
      if (onStart) commitWaiting();
      else if (waiting.length === 1) setImmediate(commitWaiting);
    });
}
