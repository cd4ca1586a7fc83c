import { closeSync, openSync } from 'node:fs';
import Database from 'better-sqlite3';

const pagesAStep = 1_000;

/**
 * Copies the database as it is now into a new file of mode 0600, while others go on writing. The copy is one file that
 * needs no other. Nothing else may be done over this connection meanwhile.
 */
export async function backupDatabase(
  database: Database.Database,
  file: string,
  onProgress: (pages: number, part: number) => void,
): Promise<void> {
  closeSync(openSync(file, 'wx', 0o600));
  // One moment is read throughout: without it, whatever another process writes would begin the copy anew.
  database.exec('BEGIN');
  try {
    database.prepare('SELECT 1 FROM settings LIMIT 1').get();
    await database.backup(file, {
      progress: ({ totalPages, remainingPages }) => {
        onProgress(totalPages - remainingPages, 1 - remainingPages / Math.max(totalPages, 1));
        return pagesAStep;
      },
    });
  } finally {
    database.exec('COMMIT');
  }
  const copy = new Database(file);
  try {
    // With a log, reading it would write files beside it.
    copy.pragma('journal_mode = DELETE');
  } finally {
    copy.close();
  }
}
