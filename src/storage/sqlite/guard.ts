import { performance } from 'node:perf_hooks';
import { SqliteError, type Database } from 'better-sqlite3';
import { AppError } from '../../errors.js';
import type { Watch } from '../../watch.js';
import type { Turn } from '../engine.js';
import { whenFree } from './busy.js';
import { createGroupCommit } from './group-commit.js';

/**
 * Stands between the stores and one database. It waits for locks without holding others up, tells a full disk from a
 * broken one, and lets nothing be written any more once it is not certain what has been.
 */
export interface Guard {
  readonly read: <T>(work: () => T) => Promise<T>;
  /**
   * Runs a change in a transaction, which the change must not open itself, and resolves when it is durable.
   *
   * @throws {AppError} UNAVAILABLE when nothing was written, or, if the message says so, when this is not known.
   */
  readonly write: <T>(change: () => T) => Promise<T>;
  /** Whether writes can be expected to succeed. Once one has found no room a trial tells, at most one a second. */
  readonly isWritable: () => boolean;
  /** Resolves with the cause when the database must not be written to any more. */
  readonly failed: Promise<Error>;
}

type DatabaseError = InstanceType<typeof SqliteError>;

const trialEveryMs = 1_000;

/** Errors of reading concern what is read. After any other error of the disk, what it holds is not known. */
const readErrors: ReadonlySet<string> = new Set([
  'SQLITE_IOERR_READ',
  'SQLITE_IOERR_SHORT_READ',
  'SQLITE_IOERR_CORRUPTFS',
  'SQLITE_IOERR_NOMEM',
]);

/** `report` takes a line for people when the disk has become full, and when it has room again. */
export function createGuard(
  database: Database,
  report: (line: string) => void = () => undefined,
  watch: Watch = {},
  inTurn?: Turn,
): Guard {
  // The guard waits itself, and everybody else is served meanwhile.
  database.pragma('busy_timeout = 0');
  const tryToWrite = createTrial(database);
  let hasRoom = true;
  let failure: DatabaseError | undefined;
  let lastTrial = -Infinity;
  let announce: (error: Error) => void = () => undefined;
  const failed = new Promise<Error>((resolve) => {
    announce = resolve;
  });

  function noteFailure(error: unknown): boolean {
    if (!(error instanceof SqliteError) || !isFatal(error)) return false;
    failure ??= error;
    announce(failure);
    return true;
  }

  const requireSound = () => {
    if (failure) throw unavailable('Storage has failed; nothing was written.', { retryAfterSeconds: 5 });
  };
  const commit = createGroupCommit(database, requireSound, watch, inTurn);

  function asUnwritten(error: unknown): unknown {
    if (noteFailure(error)) {
      // A commit that failed may have reached the disk all the same, and be found there after the next start.
      return unavailable('Storage failed, and it is not known whether this was written: read before you try again.', {
        cause: error,
      });
    }
    if (!(error instanceof SqliteError)) return error;
    const isFull = error.code === 'SQLITE_FULL';
    if (!isFull && !error.code.startsWith('SQLITE_READONLY')) return error;
    const state = isFull ? 'full' : 'read-only';
    if (hasRoom) report(`Storage is ${state}: ${error.message}. Writes are refused until there is room.`);
    hasRoom = false;
    return unavailable(`Storage is ${state}; nothing was written.`, {
      retryAfterSeconds: 60,
      cause: error,
    });
  }

  return {
    failed,
    async read(work) {
      try {
        return await whenFree(work);
      } catch (error) {
        noteFailure(error);
        throw error;
      }
    },
    async write(change) {
      try {
        return await commit(change);
      } catch (error) {
        throw asUnwritten(error);
      }
    },
    isWritable() {
      if (failure) return false;
      if (hasRoom || performance.now() - lastTrial < trialEveryMs) return hasRoom;
      lastTrial = performance.now();
      try {
        tryToWrite();
        hasRoom = true;
        report('Storage takes writes again.');
      } catch (error) {
        noteFailure(error);
      }
      return hasRoom;
    },
  };
}

function unavailable(message: string, details: { retryAfterSeconds?: number; cause?: unknown }): AppError {
  return new AppError('UNAVAILABLE', message, details);
}

/** Whether the database must be left alone: its file went away, or what was to be written may or may not be there. */
function isFatal({ code }: DatabaseError): boolean {
  if (code === 'SQLITE_READONLY_DBMOVED') return true;
  return code.startsWith('SQLITE_IOERR') && !readErrors.has(code);
}

/** Writes, and takes away again, about as much as a large change. Throws where there is no room for it. */
function createTrial(database: Database): () => void {
  const name = 'trial';
  const claim = database.prepare<[string, string]>(
    'INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  const release = database.prepare<[string]>('DELETE FROM settings WHERE name = ?');
  return () => {
    claim.run(name, 'x'.repeat(65_536));
    release.run(name);
  };
}
