import { closeSync, openSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { schemaVersion } from '../sql/schema.js';
import { versionOf } from './connection.js';
import { createFileSettings } from './session.js';

const minFreeShare = 0.05;
/** Enough on disks of more than 5 GiB. */
const minFreeBytes = 256 * 1024 * 1024;

/** Returns a function that writes a probe and returns, for the log, why that failed; undefined if it succeeded. */
export function createWriteProbe(database: Database.Database, file: string, now: () => Date): () => string | undefined {
  const settings = createFileSettings(database);
  return () => {
    try {
      if (versionOf(database) < schemaVersion) return 'the database has the schema of an older version';
      settings.set('probe', now().toISOString());
    } catch (error) {
      // Another process is writing; changes wait for it.
      if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return undefined;
      return `the database accepts no writes (${error instanceof Error ? error.message : 'unknown reason'})`;
    }
    return file === ':memory:' || hasFreeSpace(statfsSync(dirname(file))) ? undefined : 'the disk is nearly full';
  };
}

/** Whether a file system has enough free space for a service that writes. */
export function hasFreeSpace({ bavail, blocks, bsize }: { bavail: number; blocks: number; bsize: number }): boolean {
  return bavail >= blocks * minFreeShare || bavail * bsize >= minFreeBytes;
}

/** The errors that SQLite finds in the structure of its file and indexes. Blocks the process. */
export function damagesOf(database: Database.Database): string[] {
  const found = database.pragma('integrity_check') as { integrity_check: string }[];
  const lines = found.flatMap((row) => row.integrity_check.split('\n'));
  return lines.filter((line) => line !== 'ok' && !line.startsWith('***'));
}

const pagesPerStep = 1_000;

/**
 * Copies a snapshot of the database into a new file of mode 0600, while others write. The copy is one file without a log.
 * The connection must not be used meanwhile.
 */
export async function backupDatabase(
  database: Database.Database,
  file: string,
  onProgress: (pages: number, part: number) => void,
): Promise<void> {
  closeSync(openSync(file, 'wx', 0o600));
  // One snapshot: otherwise a write by another process would restart the copy.
  database.exec('BEGIN');
  try {
    database.prepare('SELECT 1 FROM settings LIMIT 1').get();
    await database.backup(file, {
      progress: ({ totalPages, remainingPages }) => {
        onProgress(totalPages - remainingPages, 1 - remainingPages / Math.max(totalPages, 1));
        return pagesPerStep;
      },
    });
  } finally {
    database.exec('COMMIT');
  }
  const copy = new Database(file);
  try {
    // With a log, reading the copy would create files beside it.
    copy.pragma('journal_mode = DELETE');
  } finally {
    copy.close();
  }
}
