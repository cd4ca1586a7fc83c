import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { SqliteError } from 'better-sqlite3';
import type { Database } from './connection.js';
import { schemaVersion } from '../sql/schema.js';
import { versionOf } from './migrate.js';
import { createSettings } from './settings.js';

const leastFreeShare = 0.05;
/** A large disk has room for much in less than its twentieth. */
const enoughFreeBytes = 256 * 1024 * 1024;

/** Tells, as words for a log, why the database cannot take changes; undefined where it has just taken one. */
export function createWriteProbe(database: Database, file: string, now: () => Date): () => string | undefined {
  const settings = createSettings(database);
  return () => {
    try {
      if (versionOf(database) < schemaVersion) return 'the database has the schema of an older version';
      settings.set('probe', now().toISOString());
    } catch (error) {
      // Another process that writes for a moment is no fault of ours, and changes wait for it.
      if (error instanceof SqliteError && error.code.startsWith('SQLITE_BUSY')) return undefined;
      return `the database takes no change (${error instanceof Error ? error.message : 'unknown reason'})`;
    }
    return file === ':memory:' || hasRoom(statfsSync(dirname(file))) ? undefined : 'the disk is nearly full';
  };
}

/** Whether a file system still takes what a service may write in a while. */
export function hasRoom({ bavail, blocks, bsize }: { bavail: number; blocks: number; bsize: number }): boolean {
  return bavail >= blocks * leastFreeShare || bavail * bsize >= enoughFreeBytes;
}
