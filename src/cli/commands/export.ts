import type { Services } from '../../storage/open-storage.js';
import { withLiveQuotas } from '../../keys/quota/quota-manager.js';
import { quotaFigures } from '../../keys/quota/quota.js';
import { aadFor } from '../../keys/commands/protect-secrets.js';
import { withSecrets } from '../../keys/definition/normalize.js';
import type { StoredKey } from '../../keys/key.js';
import type { ScannedKey } from '../../keys/ports.js';
import { definitionToWire } from '../../wire/field-names.js';
import { createDamagedKeyReport, damagedAdvice, damagedExitCode } from './damaged-keys.js';
import type { IO } from '../io.js';
import { toJSONLine } from '../output/json.js';
import { withServices } from '../key-client/open.js';
import type { OptionValues } from '../command.js';
import { createProgressLine } from '../output/progress.js';

/** Gives all keys out that are not deleted, a line each, in the form that `keys import` takes. */
export async function exportKeys(io: IO, values: OptionValues): Promise<number> {
  return withServices(io, { access: 'read', liveQuotas: 'use' }, async (installation) => {
    const progress = createProgressLine(io, 'keys');
    const { keys: all } = await installation.contents();
    let count = 0;
    const damaged = createDamagedKeyReport(io);
    for await (const keys of pages(installation.store.all(), damaged.skip)) {
      for (const key of await withLiveQuotas(installation.ports.quotas, keys)) {
        const line = lineUnlessDamaged(installation, key, values['with-secrets'] === true);
        if (line === undefined) {
          damaged.skip(key.keyHash, 'its secrets cannot be opened');
          continue;
        }
        io.stdout(`${toJSONLine(line)}\n`);
        // Otherwise whoever reads slowly would have us keep in memory what is not read yet.
        await io.stdoutDrained?.();
        count += 1;
        progress.show(count, count / all);
      }
    }
    progress.end();
    io.stderr(
      `${count} exported${values['with-secrets'] === true ? ', with their secrets: keep the file safe' : ', without secrets'}.\n`,
    );
    if (damaged.count() === 0) return 0;
    io.stderr(`${damaged.count()} damaged keys were left out. ${damagedAdvice}\n`);
    return damagedExitCode;
  });
}

const pageSize = 200;

/** The keys that are not deleted, some at a time, so that counters elsewhere are asked for together. */
async function* pages(
  all: AsyncIterable<ScannedKey>,
  skip: (keyHash: string) => void,
): AsyncIterable<readonly StoredKey[]> {
  let page: StoredKey[] = [];
  for await (const { keyHash, key } of all) {
    if (!key) skip(keyHash);
    else if (key.deleted === undefined) page.push(key);
    if (page.length < pageSize) continue;
    yield page;
    page = [];
  }
  yield page;
}

function lineUnlessDamaged(installation: Services, key: StoredKey, showSecrets: boolean): object | undefined {
  try {
    return lineOf(installation, key, showSecrets);
  } catch {
    return undefined;
  }
}

function lineOf({ sealer, now }: Services, key: StoredKey, showSecrets: boolean): object {
  const { keyHash, definition, secrets, quota } = key;
  const opened = (sealed: Uint8Array | undefined, name: 'jwtSecret' | 'hmacString') =>
    sealed === undefined ? null : sealer.open(sealed, aadFor(keyHash, name));
  const shown = showSecrets
    ? withSecrets(definition, {
        password: secrets.passwordHash ?? null,
        jwtSecret: opened(secrets.jwtSecret, 'jwtSecret'),
        hmacString: opened(secrets.hmacString, 'hmacString'),
      })
    : definition;
  const { remaining } = quotaFigures(key, now());
  const live = {
    ...shown,
    orgID: key.orgID,
    dateCreated: key.dateCreated,
    lastUpdated: String(key.lastUpdated),
    ...(remaining !== undefined && { quotaRemaining: remaining }),
    ...(quota.renews !== undefined && { quotaRenews: quota.renews }),
  };
  return { key_id: sealer.open(key.sealedKeyID, aadFor(keyHash, 'keyID')), ...definitionToWire(live) };
}
