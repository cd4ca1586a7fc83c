import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes the file, and the folder it is to stand in, for their owner only; what is there stays as it is. Throws an Error
 * with the command that mends it where others may look in: what SQLite writes takes its mode from the file.
 */
export function createPrivately(file: string): void {
  const folder = dirname(file);
  const isNew = makeFolder(folder);
  requirePrivate(folder, '700');
  const handle = openSync(file, 'a', 0o600);
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  for (const name of [file, `${file}-wal`, `${file}-shm`]) requirePrivate(name, '600');
  // A name lasts once the folder that it stands in was written: the file's in ours, and ours in the one above.
  syncFolder(folder);
  if (isNew) syncFolder(dirname(folder));
}

/** Only the last folder is made: a path that is wrong further up is rather a mistake than a wish. */
function makeFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return false;
    throw error;
  }
}

function requirePrivate(path: string, mode: '600' | '700'): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && (found.mode & 0o077) !== 0) {
    throw new Error(`${path} is open to other users. Run: chmod ${mode} ${path}`);
  }
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
