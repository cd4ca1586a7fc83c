import { statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import type { Shrinking } from '../storage.js';

/** SQLite keeps its log at about 4 MiB unless a long read makes it grow; it then keeps its size. */
const largeBytes = 32 * 1024 * 1024;

/** Truncates a large write-ahead log, without waiting for readers. Undefined when it is not large. */
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
