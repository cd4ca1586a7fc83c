import type { Config } from '../../../config/config.js';
import { addKey, loadKeyRing } from '../../../crypto/key-ring.js';
import { aadFor } from '../../../keys/protect-secrets.js';
import type { StoredKey } from '../../../keys/key.js';
import type { ScannedKey } from '../../../keys/ports.js';
import { AppError, errorCodeOf } from '../../../lib/errors.js';
import { inPages } from '../../../lib/in-pages.js';
import type { Services } from '../../../storage/open-storage.js';
import { resealWebhook } from '../../../webhooks/manage.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import type { IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { jsonOption, printJSONResult } from '../../output/format.js';
import { createProgressLine } from '../../output/progress.js';
import { cannotDecrypt, createDamagedKeyReport, damagedExitCode } from '../keys/damaged-keys.js';
import { notPromoted, requireOneHost, requirePrimaryOnHosts } from './stages.js';
import { requireIntactWebhooks, skippedSummary } from './damaged-rows.js';

export const rotateKeyRingCommand: CLICommand = {
  name: 'secrets rotate',
  summary: 'Add a key to the key ring and re-encrypt all secrets with it',
  description:
    'Services may run meanwhile. The command may be interrupted and run again: it continues an incomplete rotation without adding another key.',
  options: { json: jsonOption },
  exitCodes: { 3: 'done, except for damaged rows, which are named; run it again after they are repaired or deleted' },
  examples: ['keyfront secrets rotate'],
  environment: storageVariables,
  run: rotate,
};

async function rotate(io: IO, options: OptionValues): Promise<number> {
  return withServices(io, { access: 'write' }, async (services, { config }) => {
    await requireIntactWebhooks(services);
    const primaryID = await primaryKeyFor(services, config);
    const progress = createProgressLine(io, 'keys');
    const damaged = createDamagedKeyReport(io);
    const { keys: total } = await services.contents();
    let count = 0;
    for await (const page of inPages(services.store.all(), pageSize)) {
      // Concurrent changes share group commits.
      await Promise.all(page.map((scanned) => reseal(services, scanned, primaryID, damaged.skip)));
      count += page.length;
      progress.show(count, count / total);
    }
    const isCurrent = (sealed: Uint8Array) => services.sealer.keyIDOf(sealed) === primaryID;
    const { intact } = await services.webhooks.list();
    for (const { id } of intact) {
      await services.webhooks.change(id, (webhook) => resealWebhook(webhook, services.sealer, isCurrent));
    }
    // Rows without a secret, such as those of the history, still have signatures of the older key.
    progress.end();
    const signing = createProgressLine(io, 'rows signed');
    let rows = 0;
    const damagedRows = await services.signatures.renew(() => signing.show((rows += 1)));
    signing.end();
    const counts = { keys: count, damaged_rows: damagedRows, damaged_keys: damaged.count() };
    printJSONResult(io, options, { primary_id: primaryID, ...counts });
    if (damagedRows > 0 || damaged.count() > 0) {
      const skipped = skippedSummary(damagedRows, damaged.count());
      io.stderr(`Everything else is encrypted with the key ${primaryID}. ${skipped}\n`);
      return damagedExitCode;
    }
    await services.resealKeyRingCheck();
    io.stderr(
      `Everything is encrypted with the key ${primaryID}. Older keys stay in the key ring until \`keyfront secrets prune\`.\n`,
    );
    return 0;
  });
}

/** Returns the key of an incomplete rotation, otherwise adds a key: a retry must not add a second one. */
async function primaryKeyFor(services: Services, { keyRingFile }: Config): Promise<string> {
  const { primaryID, pendingID } = loadKeyRing(keyRingFile);
  if (pendingID !== undefined) throw notPromoted(pendingID);
  if (await services.isRotated(primaryID)) {
    await requireOneHost(services);
    return addKey(keyRingFile, services.now()).primaryID;
  }
  // A host with the older primary key would continue to sign rows with it.
  await requirePrimaryOnHosts(services, primaryID);
  return primaryID;
}

const pageSize = 100;

async function reseal(
  services: Services,
  { keyHash, key }: ScannedKey,
  primaryID: string,
  skip: (keyHash: string, reason?: string) => void,
): Promise<void> {
  if (!key) return skip(keyHash);
  try {
    await services.store.reseal(keyHash, (stored) => withPrimaryKey(services, stored, primaryID));
  } catch (error) {
    // UNAVAILABLE concerns all keys; an error of reading or decryption concerns this key only.
    if (errorCodeOf(error) !== 'INTERNAL') throw error;
    skip(keyHash, error instanceof AppError ? error.message : cannotDecrypt);
  }
}

function withPrimaryKey({ sealer }: Services, key: StoredKey, primaryID: string): StoredKey {
  const sealAgain = (sealed: Uint8Array, secret: 'keyID' | 'jwtSecret' | 'hmacString') => {
    if (sealer.keyIDOf(sealed) === primaryID) return sealed;
    const aad = aadFor(key.keyHash, secret);
    return sealer.seal(sealer.open(sealed, aad), aad);
  };
  const { jwtSecret, hmacString } = key.secrets;
  return {
    ...key,
    sealedKeyID: sealAgain(key.sealedKeyID, 'keyID'),
    secrets: {
      ...key.secrets,
      jwtSecret: jwtSecret && sealAgain(jwtSecret, 'jwtSecret'),
      hmacString: hmacString && sealAgain(hmacString, 'hmacString'),
    },
  };
}
