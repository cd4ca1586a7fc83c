import { statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import type { Shrinking } from '../storage.js';

/** SQLite keeps its log at some 4 MiB unless a reader holds it for long, and then never takes the file back. */
const largeBytes = 32 * 1024 * 1024;

/** Empties the write-ahead log where it is large. Undefined where it is not. Waits for nobody. */
export function shrinkLog(database: Database, largerThan = largeBytes): Shrinking | undefined {
  const bytes = logBytes(database);
  if (bytes <= largerThan) return undefined;
  const [result] = database.pragma('wal_checkpoint(TRUNCATE)') as { busy: bigint }[];
  return { bytes, isDone: Number(result?.busy ?? 1) === 0 };
}

/** The size of the write-ahead log. */
export function logBytes(database: Database): number {
  return statSync(`${database.name}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
