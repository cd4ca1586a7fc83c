import { dropInactiveKeys, loadKeyRing } from '../../../crypto/key-ring.js';
import { sealedSecretsOf } from '../../../keys/protect-secrets.js';
import type { StoredKey } from '../../../keys/key.js';
import type { Services } from '../../../storage/open-storage.js';
import { sealedValuesOf } from '../../../webhooks/manage.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import { confirm, notConfirmedExitCode, yesOption } from '../../input/confirm.js';
import type { IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { jsonOption, printJSONResult } from '../../output/format.js';
import { cannotDecrypt, createDamagedKeyReport, damagedExitCode } from '../keys/damaged-keys.js';
import { notPromoted, requirePrimaryOnHosts } from './stages.js';
import { requireIntactWebhooks, skippedSummary } from './damaged-rows.js';

export const pruneCommand: CLICommand = {
  name: 'secrets prune',
  summary: 'Remove unused keys from the key ring',
  description:
    'Run it a few minutes after `secrets rotate`, when all services have loaded the new key. Backups from before the rotation then need a copy of the older key ring.',
  options: { yes: yesOption, json: jsonOption },
  exitCodes: { 3: 'done, except for damaged rows, which are named' },
  examples: ['keyfront secrets prune'],
  environment: storageVariables,
  run: prune,
};

async function prune(io: IO, options: OptionValues): Promise<number> {
  const question = 'Remove the older keys? Backups from before the rotation then need a copy of this key ring.';
  if (!(await confirm(io, options, question))) return notConfirmedExitCode;
  return withServices(io, { access: 'write' }, async (services, { config }) => {
    await requireIntactWebhooks(services);
    const { primaryID, pendingID, ids } = loadKeyRing(config.keyRingFile);
    if (pendingID !== undefined) throw notPromoted(pendingID);
    await requirePrimaryOnHosts(services, primaryID);
    const damaged = createDamagedKeyReport(io);
    for await (const { keyHash, key } of services.store.all()) {
      if (!key) damaged.skip(keyHash);
      else if (needsOlderKey(services, key, primaryID, damaged.skip)) throw olderKeyInUse();
    }
    const { intact } = await services.webhooks.list();
    for (const webhook of intact) {
      if (sealedValuesOf(webhook).some(({ sealed }) => services.sealer.keyIDOf(sealed) !== primaryID)) {
        throw olderKeyInUse();
      }
    }
    const older = await services.signatures.older();
    if (older.hasValid) throw olderKeyInUse();
    // A rotation that was interrupted at its end, or skipped damaged rows, has not renewed the key check value.
    await services.resealKeyRingCheck();
    dropInactiveKeys(config.keyRingFile);
    const removed = ids.filter((id) => id !== primaryID);
    const counts = { damaged_rows: older.damaged, damaged_keys: damaged.count() };
    printJSONResult(io, options, { primary_id: primaryID, removed, ...counts });
    io.stderr(`Removed older keys: ${removed.length}. The primary key is ${primaryID}.\n`);
    if (removed.length > 0) {
      io.stderr(
        `Backups from before the rotation need a copy of the key ring with ${removed.join(', ')}; this key ring does not restore them. Make a new backup.\n`,
      );
    }
    if (older.damaged === 0 && damaged.count() === 0) return 0;
    io.stderr(`${skippedSummary(older.damaged, damaged.count())}\n`);
    return damagedExitCode;
  });
}

function needsOlderKey(
  { sealer }: Services,
  key: StoredKey,
  primaryID: string,
  skip: (keyHash: string, reason: string) => void,
): boolean {
  const older = sealedSecretsOf(key).filter(({ sealed }) => sealer.keyIDOf(sealed) !== primaryID);
  try {
    for (const { sealed, aad } of older) sealer.open(sealed, aad);
    return older.length > 0;
  } catch {
    skip(key.keyHash, cannotDecrypt);
    return false;
  }
}

function olderKeyInUse(): Error {
  return new Error('An older key is still in use. Run `keyfront secrets rotate` first.');
}
