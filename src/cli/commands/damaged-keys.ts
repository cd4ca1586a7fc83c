import { printable } from '../../lib/text.js';
import type { IO } from '../io.js';

/** The exit code of a command that has done its work except for damaged rows, which it has named. */
export const damagedExitCode = 3;

/** Names keys that a command has to leave out, each once. */
export function createDamagedKeyReport(io: IO) {
  const hashes = new Set<string>();
  return {
    skip: (keyHash: string, reason = 'its row fails the integrity check'): void => {
      if (hashes.has(keyHash)) return;
      hashes.add(keyHash);
      io.stderr(`Skipped the key ${printable(keyHash)}: ${printable(reason)}.\n`);
    },
    count: () => hashes.size,
  };
}

/** What to do about damaged rows. */
export const damagedAdvice =
  'Run `keyfront check`. Restore a backup, or remove a damaged key with `keyfront keys discard HASH --yes`.';
