import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { SqliteError } from 'better-sqlite3';
import type { Database } from './connection.js';
import { schemaVersion } from '../sql/schema.js';
import { versionOf } from './migrate.js';
import { createSettings } from './settings.js';

const minFreeShare = 0.05;
/** Enough on a large disk, of which it is less than the share. */
const minFreeBytes = 256 * 1024 * 1024;

/** Returns a function that writes a probe and returns, for the log, why that failed; undefined if it succeeded. */
export function createWriteProbe(database: Database, file: string, now: () => Date): () => string | undefined {
  const settings = createSettings(database);
  return () => {
    try {
      if (versionOf(database) < schemaVersion) return 'the database has the schema of an older version';
      settings.set('probe', now().toISOString());
    } catch (error) {
      // Another process is writing; changes wait for it.
      if (error instanceof SqliteError && error.code.startsWith('SQLITE_BUSY')) return undefined;
      return `the database accepts no writes (${error instanceof Error ? error.message : 'unknown reason'})`;
    }
    return file === ':memory:' || hasFreeSpace(statfsSync(dirname(file))) ? undefined : 'the disk is nearly full';
  };
}

/** Whether a file system has enough free space for a service that writes. */
export function hasFreeSpace({ bavail, blocks, bsize }: { bavail: number; blocks: number; bsize: number }): boolean {
  return bavail >= blocks * minFreeShare || bavail * bsize >= minFreeBytes;
}
