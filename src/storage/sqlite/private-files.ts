import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFile, syncName } from '../../lib/durable-file.js';

/**
 * Makes the file, and the folder it is to stand in, for their owner only; what is there stays as it is. Throws an Error
 * with the command that mends it where others may look in: what SQLite writes takes its mode from the file.
 */
export function createPrivately(file: string): void {
  makePrivateFolder(dirname(file));
  closeSync(openSync(file, 'a', 0o600));
  syncFile(file);
  requirePrivateFiles(file);
  syncName(file);
}

/** Throws an Error with the command that corrects it when other users can read the file, its log or the folder. */
export function requirePrivateFiles(file: string): void {
  requirePrivate(dirname(file), '700');
  for (const name of [file, `${file}-wal`, `${file}-shm`]) requirePrivate(name, '600');
}

/** The same for a folder. Only the last one is made: a path that is wrong further up is rather a mistake than a wish. */
export function makePrivateFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
    syncName(folder);
  } catch (error) {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
  requirePrivate(folder, '700');
}

function requirePrivate(path: string, mode: '600' | '700'): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && (found.mode & 0o077) !== 0) {
    throw new Error(`${path} is open to other users. Run: chmod ${mode} ${path}`);
  }
}
