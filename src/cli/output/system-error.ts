import { systemCodeOf } from '../../lib/durable-file.js';

/** What an error of the operating system means, and what to do. */
const explanations: Readonly<Record<string, string>> = {
  EACCES: 'this user has no permission; run the command as the user of the service, or change the owner of the file',
  EPERM: 'this user has no permission; run the command as the user of the service, or change the owner of the file',
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

/** Returns what an error of the operating system means; its code if it is not known; undefined for other errors. */
export function explainSystemError(error: unknown): string | undefined {
  const code = systemCodeOf(error);
  return code === undefined ? undefined : (explanations[code] ?? `error ${code}`);
}

/** Returns the message of an error for people: in words if it is one of the operating system. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return 'An unknown error occurred.';
  const code = systemCodeOf(error);
  const explanation = code === undefined ? undefined : explanations[code];
  // Node's own messages begin with the code. Others are for people already.
  if (explanation === undefined || !error.message.startsWith(`${code}:`)) return error.message;
  const path: unknown = Reflect.get(error, 'path');
  return `Cannot use ${typeof path === 'string' ? path : 'a file'}: ${explanation}.`;
}
