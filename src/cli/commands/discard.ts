import { createAuditLog } from '../../telemetry/audit-log.js';
import { AppError } from '../../lib/errors.js';
import { createLogger } from '../../lib/log.js';
import { UsageError, type IO } from '../io.js';
import { withServices } from '../key-client/open.js';

const principal = { credentialID: 'cli', label: 'keyfront keys discard', orgID: undefined };
const hashForm = /^[0-9a-zA-Z_-]{1,200}$/;

/** Removes a damaged key with its history, and writes the attempt to the audit log on standard error. */
export async function discardKey(io: IO, _: unknown, [keyHash = '']: readonly string[]): Promise<number> {
  if (!hashForm.test(keyHash)) throw new UsageError('HASH must be the hash of a key, as `keyfront check` prints it.');
  const audit = createAuditLog(createLogger('info', { write: (line) => io.stderr(line) }));
  const attempt = { operation: 'discardOrgKey', requestID: '', principal, keyHash };
  return withServices(io, { access: 'write' }, async ({ store }) => {
    try {
      const outcome = await store.discard(keyHash);
      if (outcome === 'absent') throw new AppError('NOT_FOUND', `There is no key ${keyHash}.`);
      if (outcome === 'intact') {
        throw new AppError(
          'CONFLICT',
          `The key ${keyHash} passes the integrity check; delete it through an API instead.`,
        );
      }
    } catch (error) {
      audit({ ...attempt, outcome: { error } });
      throw error;
    }
    audit({ ...attempt, outcome: {} });
    io.stderr(`Removed the damaged key ${keyHash} and its history.\n`);
    return 0;
  });
}
