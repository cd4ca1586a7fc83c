import { systemCodeOf } from './durable-file.js';

const noPermission = 'this user has no permission; run it as the user of the service, or change the owner of the file';

/** Explanations of the errors of the operating system, with advice. */
const explanations: Readonly<Record<string, string>> = {
  EACCES: noPermission,
  EPERM: noPermission,
  EEXIST: 'it exists already',
  EISDIR: 'it is a folder; name a file',
  ENOTDIR: 'a part of the path is not a folder',
  ENOENT: 'it does not exist; check the path',
  ENOSPC: 'the disk is full; free space on it and try again',
  EDQUOT: 'the disk quota of this user is used up',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many files are open; raise the limit (ulimit -n)',
  ENFILE: 'too many files are open on this machine',
  EIO: 'the disk reports an error; check its health',
  ELOOP: 'the path has too many symbolic links',
  ENAMETOOLONG: 'the name is too long',
};

/** Explains an error of the operating system, with its code: `it is a folder; name a file (EISDIR)`. */
export function explainSystemError(error: unknown): string {
  const code = systemCodeOf(error);
  if (code === undefined) return 'unknown reason';
  const explanation = explanations[code];
  return explanation === undefined ? code : `${explanation} (${code})`;
}

/** Returns the message of an error for people. Replaces the message of a system error by an explanation. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'An unknown error occurred.';
  const code = systemCodeOf(error);
  // Node's own messages begin with the code. Other messages are already for people.
  if (code === undefined || !error.message.startsWith(`${code}:`)) return error.message;
  const path: unknown = Reflect.get(error, 'path');
  return `${typeof path === 'string' ? path : 'A file'} cannot be used: ${explainSystemError(error)}.`;
}
