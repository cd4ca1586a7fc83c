import type { Database } from 'better-sqlite3';

const pageBytes = 4096;

/** How many frames the log has, and how many of them are in the database file. Neither reads nor writes these files. */
export function readLogState(database: Database): { readonly frames: number; readonly copied: number } {
  // Numbers, of a connection without safe integers.
  const [state] = database.pragma('wal_checkpoint(NOOP)') as [Record<'log' | 'checkpointed', bigint | number>];
  return { frames: Number(state.log), copied: Number(state.checkpointed) };
}

/** The bytes of the log that are in use and not all copied, 0 after closing. Its file may be longer. */
export function logLength(database: Database): number {
  if (!database.open) return 0;
  const { frames, copied } = readLogState(database);
  return frames === copied ? 0 : frames * pageBytes;
}
