import * as z from 'zod';
import { aadFor } from '../../keys/protect-secrets.js';
import { withSecrets } from '../../keys/definition/normalize.js';
import type { StoredKey } from '../../keys/key.js';
import type { ScannedKey } from '../../keys/ports.js';
import { withLiveQuotas } from '../../keys/quota/external-counters.js';
import { quotaFigures } from '../../keys/quota/quota.js';
import { inPages } from '../../lib/in-pages.js';
import type { Services } from '../../storage/open-storage.js';
import { definitionToWire } from '../../wire/field-names.js';
import {
  connectionOptions,
  createConnection,
  serviceAddress,
  serviceCredential,
  toAppError,
} from '../client/connection.js';
import { serviceURLFrom, withServices } from '../client/open.js';
import { serviceURLOption } from '../client/run.js';
import { type CLICommand, type OptionValues, keyVariables } from '../command.js';
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
  environment: keyVariables,
  run: exportKeys,
};

async function exportKeys(io: IO, options: OptionValues): Promise<number> {
  const includeSecrets = options['with-secrets'] === true;
  const url = serviceURLFrom(io, options);
  if (url !== undefined) return exportFromService(io, options, url);
  return withServices(io, { access: 'read', liveQuotas: true }, async (services) => {
    const progress = createProgressLine(io, 'keys');
    const { keys: total } = await services.contents();
    let count = 0;
    const damaged = createDamagedKeyReport(io);
    for await (const page of inPages(exportable(services.store.all(), damaged.skip), pageSize)) {
      for (const key of await withLiveQuotas(services.ports.externalCounters, page)) {
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

async function exportFromService(io: IO, options: OptionValues, url: string): Promise<number> {
  if (options['with-secrets'] === true) {
    throw new UsageError('--with-secrets is for a data folder; a service returns no secrets.');
  }
  const send = createConnection(io, serviceAddress(io, options, url, serviceCredential));
  const progress = createProgressLine(io, 'keys');
  let count = 0;
  for (let after: string | undefined = ''; after !== undefined;) {
    const page = await send(`/svc/org/keys?limit=${servicePageSize}${after && `&after=${encodeURIComponent(after)}`}`);
    if (page['status'] === 'error') throw toAppError(page);
    const { keys, next }: z.output<typeof ServicePage> = ServicePage.parse(page);
    for (const { key, data, quota } of keys) {
      const live = {
        ...(BigInt(quota.remaining) >= 0n && { quota_remaining: quota.remaining }),
        ...(quota.renews_at !== undefined && { quota_renews: quota.renews_at }),
      };
      io.stdout(`${toJSONLine({ key_id: key, ...data, ...live })}\n`);
      await io.stdoutDrained?.();
    }
    count += keys.length;
    progress.show(count);
    after = next;
  }
  progress.end();
  io.stderr(`Exported keys: ${count}, without secrets.\n`);
  return 0;
}

/** The largest page of the REST API. */
const servicePageSize = 100;
const Int64 = z.union([z.number(), z.bigint()]);
const ServicePage = z.object({
  keys: z.array(
    z.object({
      key: z.string(),
      data: z.object({}).loose(),
      quota: z.object({ remaining: Int64, renews_at: Int64.optional() }),
    }),
  ),
  next: z.string().optional(),
});

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
