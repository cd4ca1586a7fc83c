import { aadFor } from '../../../keys/commands/protect-secrets.js';
import { withSecrets } from '../../../keys/definition/normalize.js';
import type { StoredKey } from '../../../keys/key.js';
import { withLiveQuotas } from '../../../keys/quota/quota-manager.js';
import { quotaFigures } from '../../../keys/quota/quota.js';
import type { ScannedKey } from '../../../keys/ports.js';
import { inPages } from '../../../lib/in-pages.js';
import type { Services } from '../../../storage/open-storage.js';
import { definitionToWire } from '../../../wire/field-names.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import type { IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { toJSONLine } from '../../output/json.js';
import { createProgressLine } from '../../output/progress.js';
import { cannotDecrypt, createDamagedKeyReport, damagedAdvice, damagedExitCode } from './damaged-keys.js';

export const exportCommand: CLICommand = {
  name: 'keys export',
  summary: 'Export all keys as JSON Lines',
  description: 'Deleted keys are not exported. `keys import` reads the same format.',
  options: {
    'with-secrets': { description: 'Include secrets in clear and password hashes; keep the file safe' },
  },
  exitCodes: { 3: 'done, except for damaged keys, which are named' },
  examples: ['keyfront keys export > keys.jsonl'],
  environment: storageVariables,
  run: exportKeys,
};

async function exportKeys(io: IO, options: OptionValues): Promise<number> {
  const includeSecrets = options['with-secrets'] === true;
  return withServices(io, { access: 'read', liveQuotas: 'use' }, async (services) => {
    const progress = createProgressLine(io, 'keys');
    const { keys: total } = await services.contents();
    let count = 0;
    const damaged = createDamagedKeyReport(io);
    for await (const page of inPages(exportable(services.store.all(), damaged.skip), pageSize)) {
      for (const key of await withLiveQuotas(services.ports.quotas, page)) {
        const line = toWireUnlessDamaged(services, key, includeSecrets);
        if (line === undefined) {
          damaged.skip(key.keyHash, cannotDecrypt);
          continue;
        }
        io.stdout(`${toJSONLine(line)}\n`);
        // Without this wait, a slow reader would let the unread lines fill the memory.
        await io.stdoutDrained?.();
        count += 1;
        progress.show(count, count / total);
      }
    }
    progress.end();
    const secrets = includeSecrets ? 'with secrets; keep the file safe' : 'without secrets';
    io.stderr(`Exported keys: ${count}, ${secrets}.\n`);
    if (damaged.count() === 0) return 0;
    io.stderr(`Skipped damaged keys: ${damaged.count()}. ${damagedAdvice}\n`);
    return damagedExitCode;
  });
}

/** External counters are read once per page. */
const pageSize = 200;

/** The keys that are intact and not deleted. */
async function* exportable(keys: AsyncIterable<ScannedKey>, skip: (keyHash: string) => void): AsyncIterable<StoredKey> {
  for await (const { keyHash, key } of keys) {
    if (!key) skip(keyHash);
    else if (key.deleted === undefined) yield key;
  }
}

function toWireUnlessDamaged(services: Services, key: StoredKey, includeSecrets: boolean): object | undefined {
  try {
    return toWire(services, key, includeSecrets);
  } catch {
    return undefined;
  }
}

function toWire({ sealer, now }: Services, key: StoredKey, includeSecrets: boolean): object {
  const { keyHash, definition, secrets, quota } = key;
  const open = (sealed: Uint8Array | undefined, name: 'jwtSecret' | 'hmacString') =>
    sealed === undefined ? null : sealer.open(sealed, aadFor(keyHash, name));
  const exported = includeSecrets
    ? withSecrets(definition, {
        password: secrets.passwordHash ?? null,
        jwtSecret: open(secrets.jwtSecret, 'jwtSecret'),
        hmacString: open(secrets.hmacString, 'hmacString'),
      })
    : definition;
  const { remaining } = quotaFigures(key, now());
  const complete = {
    ...exported,
    orgID: key.orgID,
    dateCreated: key.dateCreated,
    lastUpdated: String(key.lastUpdated),
    ...(remaining !== undefined && { quotaRemaining: remaining }),
    ...(quota.renews !== undefined && { quotaRenews: quota.renews }),
  };
  return { key_id: sealer.open(key.sealedKeyID, aadFor(keyHash, 'keyID')), ...definitionToWire(complete) };
}
