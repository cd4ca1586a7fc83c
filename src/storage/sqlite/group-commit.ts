import { SqliteError, type Database } from 'better-sqlite3';
import { AppError } from '../../errors.js';
import type { Watch } from '../../watch.js';
import type { Turn } from '../engine.js';
import { whenFree } from './busy.js';

interface Waiting {
  readonly transaction: () => unknown;
  /** Told how many changes went to the disk together. */
  readonly onGroup?: (size: number) => void;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** Bounds how long others wait for a group: this many small changes take about a millisecond. */
const mostAtOnce = 128;

/**
 * Runs transactions that are asked for at about the same time within one, because bringing many to the disk costs as
 * much as bringing one. Each has a savepoint of its own, so that one that throws undoes itself alone; none is answered
 * before all are durable, and all are refused where that fails. A lone one neither waits nor costs more.
 */
export function createGroupCommit(
  database: Database,
  requireSound: () => void,
  { meter, tracer }: Watch = {},
  inTurn: Turn = (work) => work(),
) {
  let waiting: Waiting[] = [];
  meter?.reads('commits_waiting', () => waiting.length);

  function attempt(transaction: () => unknown): Outcome {
    try {
      return { value: transaction() };
    } catch (error) {
      // Some errors of the disk undo the whole transaction, and what others did in it before.
      if (!database.inTransaction) throw error;
      return { error };
    }
  }
  const attemptAll = database.transaction((group: readonly Waiting[]) =>
    group.map(({ transaction }) => attempt(transaction)),
  );

  function run(group: readonly Waiting[]): Outcome[] {
    requireSound();
    const [first] = group;
    return group.length === 1 && first ? [{ value: first.transaction() }] : attemptAll.immediate(group);
  }

  async function commit(group: readonly Waiting[]): Promise<void> {
    const beginMs = meter ? performance.now() : 0;
    try {
      const outcomes = await whenFree(() => run(group));
      meter?.committed(group.length, (performance.now() - beginMs) / 1000);
      for (const { onGroup } of group) onGroup?.(group.length);
      for (const [index, outcome] of outcomes.entries()) {
        if ('error' in outcome) group[index]?.reject(outcome.error);
        else group[index]?.resolve(outcome.value);
      }
    } catch (error) {
      if (isOfStorage(error)) meter?.commitFailed();
      for (const { reject } of group) reject(error);
    }
  }

  function commitWaiting(): void {
    void inTurn(async () => {
      // Not before: whoever asks while we wait for our turn is in the group.
      const group = waiting.slice(0, mostAtOnce);
      waiting = waiting.slice(mostAtOnce);
      if (waiting.length > 0) setImmediate(commitWaiting);
      await commit(group);
    });
  }

  const enter = <T>(transaction: () => T, onGroup?: Waiting['onGroup']): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      if (waiting.length === 0) setImmediate(commitWaiting);
      waiting.push({ transaction, resolve: resolve as Waiting['resolve'], reject, ...(onGroup && { onGroup }) });
    });
  if (!tracer) return enter;
  return <T>(transaction: () => T): Promise<T> =>
    tracer.within('commit', {}, (tell) => enter(transaction, (size) => tell({ 'keyfront.commit.batch_size': size })));
}

/** A lone change that is refused, such as one of a key that is not there, is no failure of storage. */
function isOfStorage(error: unknown): boolean {
  return !(error instanceof AppError) || error.cause instanceof SqliteError;
}
