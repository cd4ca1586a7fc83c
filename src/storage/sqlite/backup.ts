import { closeSync, openSync } from 'node:fs';
import Database from 'better-sqlite3';

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
