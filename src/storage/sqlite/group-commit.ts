import { SqliteError, type Database } from 'better-sqlite3';
import type { RunExclusive } from '../storage.js';
import type { Telemetry } from '../../telemetry/ports.js';
import { maxGroupSize, whenGathered, type ChangeOutcome } from '../gather.js';
import { isFatalToWrites, retryOnBusy } from './errors.js';

interface WaitingCommit {
  readonly change: () => unknown;
  /** Called after the commit, with the number of changes that it contains. */
  readonly onCommit: ((size: number) => void) | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
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
const maxGroupMs = 10;

/**
 * Commits the changes that are requested at about the same time in one transaction, because syncing many costs as much
 * as syncing one. Each change has a savepoint, so that one that throws is undone alone. Changes open no transaction
 * themselves. None is resolved before all are durable, and all are rejected when the commit fails.
 */
export function createGroupCommit(
  database: Database,
  { requireSound, requireUnmigrated, verifyFiles, onCommit }: WriteChecks,
  runExclusive: RunExclusive = (work) => work(),
  meter?: Telemetry['meter'],
  nowMs: () => number = () => performance.now(),
) {
  let waiting: WaitingCommit[] = [];
  let isScheduled = false;
  meter?.registerGauge('commits_waiting', () => waiting.length);

  const inSavepoint = database.transaction((change: () => unknown) => change());

  function attempt({ change }: WaitingCommit): ChangeOutcome {
    try {
      return { value: inSavepoint(change) };
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

  function run(group: readonly WaitingCommit[]): ChangeOutcome[] {
    requireSound();
    return attemptAll.immediate(group);
  }

  async function commit(all: readonly WaitingCommit[]): Promise<void> {
    let outcomes: readonly ChangeOutcome[];
    const beginMs = performance.now();
    try {
      outcomes = await retryOnBusy(() => run(all));
      verifyFiles();
    } catch (error) {
      for (const { reject } of all) reject(error);
      meter?.commitFailed();
      return;
    }
    const group = all.slice(0, outcomes.length);
    waiting = [...all.slice(group.length), ...waiting];
    const committed = group.filter((waiter, index) => settle(waiter, outcomes[index]));
    onCommit();
    schedule();
    if (outcomes.some((outcome) => 'error' in outcome && outcome.error instanceof SqliteError)) meter?.commitFailed();
    if (committed.length > 0) meter?.committed(committed.length, (performance.now() - beginMs) / 1000);
    for (const waiter of committed) waiter.onCommit?.(committed.length);
  }

  function schedule(): void {
    if (isScheduled || waiting.length === 0) return;
    isScheduled = true;
    whenGathered(() => waiting.length, start);
  }

  function start(): void {
    void runExclusive(async () => {
      // Taken only now: changes that are requested while another process writes join the group.
      isScheduled = false;
      const group = waiting.slice(0, maxGroupSize);
      waiting = waiting.slice(maxGroupSize);
      schedule();
      await commit(group);
    });
  }

  return {
    /** Requests a change. Resolves to its value when it is durable. */
    write: <T>(change: () => T, onCommit?: (size: number) => void): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ change, onCommit, resolve: resolve as WaitingCommit['resolve'], reject });
        schedule();
      }),
    /** The number of changes for the next groups. */
    waiting: () => waiting.length,
  };
}

/** Ends the wait of a caller, and returns whether its change was committed. */
function settle({ resolve, reject }: WaitingCommit, outcome: ChangeOutcome | undefined): boolean {
  const isCommitted = outcome !== undefined && 'value' in outcome;
  if (isCommitted) resolve(outcome.value);
  else reject(outcome?.error);
  return isCommitted;
}
