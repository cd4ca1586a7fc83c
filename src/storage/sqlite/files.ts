import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFile, syncName, systemCodeOf } from '../../lib/durable-file.js';
import { isOpenToOthers } from '../../lib/file-mode.js';
import { FilesReplacedError } from './errors.js';

/**
 * Creates the file and its folder for the owner only, unless they exist. SQLite creates its other files with the mode of
 * the file.
 *
 * @throws {Error} with the command that corrects it, when other users can read the file.
 */
export function createPrivately(file: string): void {
  makePrivateFolder(dirname(file));
  closeSync(openSync(file, 'a', 0o600));
  syncFile(file);
  requirePrivateFiles(file);
  syncName(file);
}

/**
 * Requires that the file, its log and the folder are private.
 *
 * @throws {Error} with the command that corrects it, when other users can read one of them.
 */
export function requirePrivateFiles(file: string): void {
  requirePrivate(dirname(file), '700');
  for (const name of [file, `${file}-wal`, `${file}-shm`]) requirePrivate(name, '600');
}

/** The same for a folder. Parents are not created: a missing one is probably a typing error. */
export function makePrivateFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
    syncName(folder);
  } catch (error) {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw folderError(folder, error);
  }
  requirePrivate(folder, '700');
}

function folderError(folder: string, cause: unknown): unknown {
  const problems: Readonly<Record<string, string>> = {
    EEXIST: `${folder} is not a folder. Correct the setting that names it.`,
    ENOENT: `The folder ${dirname(folder)} does not exist. Create it, or correct the setting that names it.`,
  };
  const problem = problems[systemCodeOf(cause) ?? ''];
  return problem === undefined ? cause : new Error(problem, { cause });
}

function requirePrivate(path: string, mode: '600' | '700'): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && isOpenToOthers(found.mode)) {
    throw new Error(`${path} is open to other users. Run: chmod ${mode} ${path}`);
  }
}

/** SQLite keeps the three open as long as a process uses the database, and replaces none of them meanwhile. */
const suffixes = ['', '-wal', '-shm'];

/**
 * Remembers the files of a database by device and inode. A process writes to the files that it opened, so changes are lost
 * once a path names another file or none: the next start reads the file that the path names.
 *
 * @returns a function that looks again, at the cost of three calls of stat.
 * @throws {FilesReplacedError} from that function, when a file was replaced or deleted.
 */
export function identifyFiles(file: string): () => void {
  const paths = suffixes.map((suffix) => `${file}${suffix}`);
  const identities = paths.map(identityOf);
  return () => {
    for (const [index, path] of paths.entries()) {
      const found = identityOf(path);
      if (found === identities[index]) continue;
      const what = found === undefined ? 'deleted' : 'replaced by another file';
      throw new FilesReplacedError(`${path} was ${what} while the database was in use.`);
    }
  };
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}
