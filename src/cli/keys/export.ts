import { withEffectiveQuota } from '../../keys/access/effective-access.js';
import type { Policies } from '../../keys/access/policy.js';
import { rotationOf } from '../../keys/identifiers.js';
import { aadFor, openKeyID } from '../../keys/protect-secrets.js';
import { withSecrets } from '../../keys/definition/normalize.js';
import type { StoredKey } from '../../keys/key.js';
import type { ScannedKey } from '../../keys/ports.js';
import { withLiveQuotas } from '../../keys/quota/external-counters.js';
import { quotaFigures } from '../../keys/quota/quota.js';
import { inPages } from '../../lib/in-pages.js';
import type { Services } from '../../storage/open-storage.js';
import { definitionToWire } from '../../wire/field-names.js';
import { connectionOptions, createConnection, serviceAddress, serviceCredential } from '../client/connection.js';
import { readPage } from '../client/operations.js';
import { serviceURLFrom, withServices } from '../client/open.js';
import { serviceURLOption } from '../client/run.js';
import { type CLICommand, type OptionValues } from '../command.js';
import { UsageError, type IO } from '../io.js';
import { toJSONLine, createProgressLine } from '../output.js';
import { cannotDecrypt, createDamagedKeyReport, damagedAdvice, damagedExitCode } from './damaged.js';

export const exportCommand: CLICommand = {
  name: 'keys export',
  summary: 'Export all keys as JSON Lines',
  description:
    'Deleted keys are not exported. `keys import` reads the same format. Works on the data folder, where a service may be running, or with --url on a service, which returns no secrets.',
  options: {
    'with-secrets': { description: 'Include secrets in clear and password hashes; keep the file safe' },
    url: serviceURLOption,
    ...connectionOptions,
    json: { description: 'Print JSON Lines, which is the only format', isCommon: true },
  },
  exitCodes: { 3: 'done, except for damaged keys, which are named' },
  examples: ['keyfront keys export > keys.jsonl', 'keyfront keys export --url https://keys.example.com > keys.jsonl'],
  run: exportKeys,
};

async function exportKeys(io: IO, options: OptionValues): Promise<number> {
  const includeSecrets = options['with-secrets'] === true;
  const url = serviceURLFrom(io, options);
  if (url !== undefined) return exportFromService(io, options, url);
  return withServices(io, { access: 'read', liveQuotas: true }, async (services) => {
    const { keys: total } = await services.contents();
    const output = createExport(io, total);
    for await (const page of inPages(exportable(services.store.all(), output.skip), pageSize)) {
      const policies = await services.policies.current();
      for (const key of await withLiveQuotas(services.ports.externalCounters, page)) {
        const line = toWireUnlessDamaged(services, key, policies, includeSecrets);
        if (line === undefined) output.skip(key.keyHash, cannotDecrypt);
        else await output.print(line);
      }
    }
    return output.end(includeSecrets ? 'with secrets; keep the file safe' : 'without secrets');
  });
}

async function exportFromService(io: IO, options: OptionValues, url: string): Promise<number> {
  if (options['with-secrets'] === true) {
    throw new UsageError('--with-secrets is for a data folder; a service returns no secrets.');
  }
  const send = createConnection(io, serviceAddress(io, options, url, serviceCredential));
  const output = createExport(io);
  let after: string | undefined;
  do {
    const page = await readPage(send, { filter: {}, orderBy: 'KEY_HASH', limit: servicePageSize, after });
    for (const { key, data, quota } of page.keys) {
      const live = {
        ...(quota.remaining !== undefined && { quota_remaining: quota.remaining }),
        ...(quota.renewsAt !== undefined && { quota_renews: quota.renewsAt }),
      };
      await output.print({ key_id: key, ...data, ...live });
    }
    page.unreadable.forEach((keyHash) => output.skip(keyHash));
    after = page.next;
  } while (after !== undefined);
  return output.end('without secrets');
}

/** The largest page of the REST API. */
const servicePageSize = 100;

/** Prints the lines of an export, and its progress. */
function createExport(io: IO, total?: number) {
  const progress = createProgressLine(io, 'keys');
  const damaged = createDamagedKeyReport(io);
  let count = 0;
  return {
    skip: damaged.skip,
    print: async (line: object): Promise<void> => {
      io.stdout(`${toJSONLine(line)}\n`);
      // Without this wait, a slow reader would let the unread lines fill the memory.
      await io.stdoutDrained?.();
      count += 1;
      progress.show(count, total === undefined ? undefined : count / total);
    },
    /** Prints the summary, and returns the exit code. */
    end: (secrets: string): number => {
      progress.end();
      io.stderr(`Exported keys: ${count}, ${secrets}.\n`);
      if (damaged.count() === 0) return 0;
      io.stderr(`Skipped damaged keys: ${damaged.count()}. ${damagedAdvice}\n`);
      return damagedExitCode;
    },
  };
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

function toWireUnlessDamaged(
  services: Services,
  key: StoredKey,
  policies: Policies,
  includeSecrets: boolean,
): object | undefined {
  try {
    return toWire(services, key, policies, includeSecrets);
  } catch {
    return undefined;
  }
}

/** The limits are the key's own, so that an import gives the same key. The rest of the quota is that of the counter. */
function toWire({ sealer, now }: Services, key: StoredKey, policies: Policies, includeSecrets: boolean): object {
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
  const { remaining } = quotaFigures(withEffectiveQuota(key, policies), now());
  const complete = {
    ...exported,
    orgID: key.orgID,
    dateCreated: key.dateCreated,
    lastUpdated: String(key.lastUpdated),
    ...(remaining !== undefined && { quotaRemaining: remaining }),
    ...(quota.renews !== undefined && { quotaRenews: quota.renews }),
  };
  const openID = (sealed: Uint8Array) => openKeyID(sealer, keyHash, sealed);
  const retiring = rotationOf(key, now());
  const keyID = openID(key.sealedKeyID);
  const retiringID = retiring && openID(retiring.sealedKeyID);
  return {
    ...(keyID === undefined ? { key_hash: keyHash } : { key_id: keyID }),
    ...(retiringID !== undefined && { retiring_key_id: retiringID, retires_at: retiring?.retiresAt.toISOString() }),
    ...definitionToWire(complete),
  };
}
