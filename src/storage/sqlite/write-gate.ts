import { SqliteError, type Database } from 'better-sqlite3';
import { AppError } from '../../lib/errors.js';
import type { ReadBudget } from '../../keys/read-budget.js';
import type { Telemetry } from '../../telemetry/ports.js';
import type { RunExclusive } from '../storage.js';
import { migratedTo } from '../sql/copy-store.js';
import { createScheduler } from '../../lib/scheduler.js';
import type { TimeSlices } from '../time-slices.js';
import { createGroupCommit } from './group-commit.js';
import { createFileSettings } from './session.js';
import { isFatal, isFatalToWrites, MigratedError, retryOnBusy } from './errors.js';

/**
 * Stands between the stores and one database. It waits for locks without blocking the event loop, distinguishes a full
 * disk from a broken one, and writes nothing more once it is not certain what has been written.
 */
export interface WriteGate {
  /** Runs a short read on this connection, in a time slice of the event loop. UNAVAILABLE when the request's time is up. */
  readonly read: <T>(work: () => T, reads?: ReadBudget) => Promise<T>;
  /** Where the reads of this connection, and the work on what they find, take their time from. */
  readonly slices: TimeSlices;
  /**
   * Runs a change in a transaction, which the change must not open itself, and resolves when it is durable.
   *
   * @param onCommit - called after the commit, with the number of changes that it contains
   * @throws {AppError} UNAVAILABLE when nothing was written, or, if the message states so, when this is unknown.
   */
  readonly write: <T>(change: () => T, onCommit?: (size: number) => void) => Promise<T>;
  /** The number of changes that wait for a transaction. */
  readonly waiting: () => number;
  /** Whether writes can be expected to succeed. After a full disk, a probe write finds out, at most once a second. */
  readonly isWritable: () => boolean;
  /** Resolves with the cause when the database must not be written to any more. */
  readonly failed: Promise<Error>;
}

interface WriteGateOptions {
  /** Receives a line for the operator when the disk becomes full, and when it has free space again. */
  readonly report?: (line: string) => void;
  readonly runExclusive?: RunExclusive | undefined;
  /** Throws when the database's files are no longer those that were opened. Runs before changes are acknowledged. */
  readonly verifyFiles?: () => void;
  /** Runs after each transaction. */
  readonly onCommit?: (() => void) | undefined;
  /** A monotonic clock in milliseconds. */
  readonly nowMs?: () => number;
  readonly slices?: TimeSlices;
  readonly meter?: Telemetry['meter'];
}

const probeIntervalMs = 1_000;

/**
 * The write gate of one connection. It sets the connection's `busy_timeout` to 0, because it waits for locks itself.
 *
 * @param runExclusive - serializes the writes of several processes; by default this process is the only one
 */
export function createWriteGate(
  database: Database,
  {
    report = () => undefined,
    runExclusive,
    verifyFiles = () => undefined,
    onCommit = () => undefined,
    nowMs = () => performance.now(),
    slices = createScheduler(),
    meter,
  }: WriteGateOptions = {},
): WriteGate {
  // The gate waits itself, so that other requests are served meanwhile.
  database.pragma('busy_timeout = 0');
  const probeSpace = createSpaceProbe(database);
  const requireUnmigrated = createMigrationCheck(database);
  let hasSpace = true;
  let failure: Error | undefined;
  let lastProbe = -Infinity;
  const { promise: failed, resolve: announce } = Promise.withResolvers<Error>();

  function fail(error: Error): void {
    failure ??= error;
    announce(failure);
  }

  const requireSound = () => {
    if (failure) throw unavailable('Storage has failed; nothing was written.', { retryAfterSeconds: 5 });
  };
  const checks = { requireSound, requireUnmigrated, verifyFiles, onCommit };
  const group = createGroupCommit(database, checks, runExclusive, meter);

  function asUnwritten(error: unknown): unknown {
    if (isFatalToWrites(error)) {
      fail(error);
      if (error instanceof MigratedError) {
        return unavailable('The database was copied to a server; nothing was written.', { cause: error });
      }
      // A commit that failed may have reached the disk all the same, and be found there after the next start.
      return unavailable('Storage failed, and it is not known whether this was written: read before you try again.', {
        cause: error,
      });
    }
    if (!(error instanceof SqliteError)) return error;
    const isFull = error.code === 'SQLITE_FULL';
    if (!isFull && !error.code.startsWith('SQLITE_READONLY')) return error;
    const state = isFull ? 'full' : 'read-only';
    if (hasSpace) report(`Storage is ${state}: ${error.message}. It rejects writes until a probe write succeeds.`);
    hasSpace = false;
    return unavailable(`Storage is ${state}; nothing was written.`, {
      retryAfterSeconds: 60,
      cause: error,
    });
  }

  function isWritable(): boolean {
    if (failure) return false;
    try {
      verifyFiles();
      requireUnmigrated();
      if (hasSpace || nowMs() - lastProbe < probeIntervalMs) return hasSpace;
      lastProbe = nowMs();
      probeSpace();
      hasSpace = true;
      report('Storage accepts writes again.');
    } catch (error) {
      if (isFatalToWrites(error)) fail(error);
    }
    return hasSpace && !failure;
  }

  return {
    failed,
    slices,
    async read(work, reads) {
      const slice = slices.next();
      if (slice) await slice;
      reads?.requireTime();
      try {
        return await retryOnBusy(work);
      } catch (error) {
        if (isFatal(error)) fail(error);
        throw error;
      }
    },
    async write(change, onCommit) {
      try {
        const value = await group.write(change, onCommit);
        // A small change may succeed on a full disk: the write probe decides whether the disk has free space again.
        if (!hasSpace) isWritable();
        return value;
      } catch (error) {
        throw asUnwritten(error);
      }
    },
    waiting: group.waiting,
    isWritable,
  };
}

function unavailable(message: string, details: { retryAfterSeconds?: number; cause?: unknown }): AppError {
  return new AppError('UNAVAILABLE', message, details);
}

/** Writes about as much as a large change and removes it again. Throws when there is too little space. */
function createSpaceProbe(database: Database): () => void {
  const settings = createFileSettings(database);
  return () => {
    settings.set('probe_space', 'x'.repeat(65_536));
    settings.remove('probe_space');
  };
}

/**
 * Remembers whether `migrate-store` has marked the database as copied. A service that was started with
 * `--allow-migrated` has opened a marked one.
 *
 * @returns a function that reads the mark again. Within a write transaction its result holds until the commit.
 * @throws {MigratedError} from that function, when the database was marked since.
 */
function createMigrationCheck(database: Database): () => void {
  const settings = createFileSettings(database);
  const before = settings.get(migratedTo);
  return () => {
    const target = settings.get(migratedTo);
    if (target === undefined || target === before) return;
    throw new MigratedError(`${database.name} was copied to the database ${target} while it was in use.`);
  };
}
