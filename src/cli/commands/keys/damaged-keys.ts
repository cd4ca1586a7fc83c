import { printable } from '../../../lib/text.js';
import type { IO } from '../../io.js';

/** Exit code of a command that reported and skipped damaged rows, and did all other work. */
export const damagedExitCode = 3;

/** Advice for damaged rows. */
export const damagedAdvice =
  'Run `keyfront check`. Restore a backup, or delete a damaged key with `keyfront keys discard HASH --yes`.';

/** Reason for skipping a key whose secrets cannot be decrypted. */
export const cannotDecrypt = 'its secrets cannot be decrypted';

/** Reports the keys that a command skips, each once. */
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
