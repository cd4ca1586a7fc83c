import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { platform } from 'node:os';

/**
 * Opens a file of a folder for reading. Does not wait for a writer, as opening a FIFO would.
 *
 * @returns its descriptor, which the caller closes
 * @throws {Error} if the path names something else, such as a FIFO or a device
 */
export function openRegularFile(path: string): number {
  return openChecked(path, constants.O_RDONLY | constants.O_NONBLOCK, (stats) => {
    if (!stats.isFile()) throw new Error(`${path} must be a regular file, and is not.`);
  });
}

/**
 * Reads a file that contains a secret. It may also be a pipe, such as that of `<(command)` in a shell.
 *
 * @throws {Error} if other users can read the file. Windows has no such modes.
 */
export function readPrivateFile(path: string): string {
  const file = openChecked(path, constants.O_RDONLY, (stats) => {
    // The mode of the open file, because the path could name another file when it is read.
    if (platform() !== 'win32' && stats.isFile() && (stats.mode & 0o077) !== 0) {
      throw new Error(`The file ${path} is open to other users. Run: chmod 600 ${path}`);
    }
  });
  try {
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

function openChecked(path: string, flags: number, check: (stats: Stats) => void): number {
  const file = openSync(path, flags);
  try {
    check(fstatSync(file));
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}
