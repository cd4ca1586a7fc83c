import { AppError } from '../../lib/errors.js';
import { createLogger } from '../../lib/log.js';
import { printable } from '../../lib/text.js';
import { createAuditLog } from '../../telemetry/audit-log.js';
import { createKeyService } from '../../keys/key-service.js';
import { withServices } from '../client/open.js';
import { bindOperations } from '../client/operations.js';
import { fullHashOf } from '../client/run.js';
import { type CLICommand, type OptionValues } from '../command.js';
import { confirm, isInteractive, notConfirmedExitCode } from '../input.js';
import { type IO, UsageError } from '../io.js';
import { jsonOption, printJSONResult } from '../output.js';

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

export const discardKeyCommand: CLICommand = {
  name: 'keys discard',
  summary: 'Permanently delete a damaged key and its history',
  description:
    'For a key that fails the integrity check and that no backup can restore: until it is deleted, no command can change it and its hash stays occupied. HASH may be an unambiguous beginning. Intact keys are rejected. The attempt is written to the audit log on standard error.',
  arguments: ['HASH'],
  options: {
    yes: {
      description: 'Confirm that the key and its history are permanently deleted; required without a terminal',
    },
    json: jsonOption,
  },
  exitCodes: { 1: 'there is no such key, or it is intact' },
  examples: ['keyfront keys discard 6fdc04ab12e1 --yes'],
  run: discardKey,
};

const principal = { credentialID: 'cli', label: 'keyfront keys discard', orgID: undefined };
const keyHashPattern = /^[0-9a-zA-Z_-]{1,200}$/;

async function discardKey(io: IO, options: OptionValues, [hash = '']: readonly string[]): Promise<number> {
  if (!keyHashPattern.test(hash)) {
    throw new UsageError('HASH must be the hash of a key, as `keyfront check` prints it, or its beginning.');
  }
  if (options['yes'] !== true && !isInteractive(io)) {
    throw new UsageError('Pass --yes to confirm that the key and its history are permanently deleted.');
  }
  return withServices(io, { access: 'write' }, async ({ store, ports }) => {
    const caller = { ...principal, requestID: '' };
    const keyHash = await fullHashOf(bindOperations({ local: { keys: createKeyService(ports), caller } }), hash);
    const question = () =>
      `Delete the damaged key ${keyHash} and its history permanently? No command can restore them.`;
    if (!(await confirm(io, options, question))) return notConfirmedExitCode;
    const audit = createAuditLog(createLogger('info', { write: (line) => io.stderr(line) }));
    const attempt = { operation: 'discardOrgKey', requestID: '', principal, keyHash };
    try {
      const outcome = await store.discard(keyHash);
      if (outcome === 'absent') throw new AppError('NOT_FOUND', `There is no key ${keyHash}.`);
      if (outcome === 'intact') {
        const message = `The key ${keyHash} passes the integrity check. Delete it through an API instead.`;
        throw new AppError('CONFLICT', message);
      }
    } catch (error) {
      audit({ ...attempt, outcome: { error } });
      throw error;
    }
    audit({ ...attempt, outcome: {} });
    printJSONResult(io, options, { key_hash: keyHash, deleted: true });
    io.stderr(`Deleted the damaged key ${keyHash} and its history.\n`);
    return 0;
  });
}
