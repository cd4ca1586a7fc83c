import { platform, setPriority } from 'node:os';
import Database from 'better-sqlite3';
import { readLogState } from './log-length.js';

/** A step of a checkpoint of the log of a database file. */
export interface CheckpointTask {
  readonly file: string;
  /**
   * `copy` copies the log into the database file beside the writers. `restart` and `truncate` copy the rest with the write
   * lock, after which the next change overwrites the log from its start; `truncate` leaves it without bytes.
   */
  readonly step: 'copy' | 'restart' | 'truncate';
}

/** How often the log is copied beside the writers. Each time they have added less during the time before. */
const maxPasses = 8;
/** So many pages, 4 MiB, are copied with the write lock: it takes a fraction of the time for which a writer waits. */
const maxLockedPages = 1024;
/** How often the end of the log is copied while other processes write. */
const maxAttempts = 8;
/** A group of changes holds the write lock for less. */
const pauseMs = 2;

// On Linux this affects only this thread: other requests have priority.
if (platform() === 'linux') setPriority(5);

/**
 * Runs a step of a checkpoint. Nearly all of the log is copied beside the writers. Only what they have added meanwhile is
 * copied with the write lock, which is released at once if a reader still needs the log.
 *
 * @param database - a connection of its own with a timeout of 0
 */
export async function runStep(database: Database.Database, step: CheckpointTask['step']): Promise<void> {
  if (step === 'copy') copyPages(database);
  else await startAgain(database, step === 'truncate' ? 'TRUNCATE' : 'RESTART');
}

function copyPages(database: Database.Database): void {
  for (let pass = 1; pass <= maxPasses; pass += 1) {
    database.pragma('wal_checkpoint(PASSIVE)');
    if (pagesToCopy(database) <= maxLockedPages) break;
  }
}

async function startAgain(database: Database.Database, mode: 'TRUNCATE' | 'RESTART'): Promise<void> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    if (database.pragma(`wal_checkpoint(${mode})`, { simple: true }) === 0) return;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** How many pages of the log are not in the database file. */
function pagesToCopy(database: Database.Database): number {
  const { frames, copied } = readLogState(database);
  return frames - copied;
}

let connection: Database.Database | undefined;

/** Runs a step in a worker thread, which serves one file. */
export default async function checkpoint({ file, step }: CheckpointTask): Promise<void> {
  connection ??= new Database(file, { fileMustExist: true, timeout: 0 });
  await runStep(connection, step);
}
