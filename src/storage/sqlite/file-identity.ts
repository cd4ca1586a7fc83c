import { statSync } from 'node:fs';
import { FilesReplacedError } from './errors.js';

/** SQLite keeps the three open as long as a process uses the database, and replaces none of them meanwhile. */
const suffixes = ['', '-wal', '-shm'];

/**
 * Remembers which files a database consists of, by device and inode. A process writes to the files that it opened, so
 * that changes are lost once a path leads to another file or to none: the next start reads what the path leads to.
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
