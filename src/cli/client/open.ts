import { readConfig, type Config, type ConfigSecrets } from '../../config/config.js';
import { openServices, type OpenOptions, type Services } from '../../storage/open-storage.js';
import type { OptionValues } from '../command.js';
import { InstallationNotFoundError } from '../../storage/storage.js';
import { createKeyService } from '../../keys/key-service.js';
import { localActor } from '../input.js';
import type { LocalPlace } from './operations.js';
import { UsageError, type IO } from '../io.js';

/**
 * The URL of the service to use: that of `--url`, otherwise of KEYFRONT_URL; undefined for the data folder.
 *
 * @throws {UsageError} if there is none, but a credential for a service: the data folder must not be changed by mistake
 */
export function serviceURLFrom({ env }: IO, options: OptionValues): string | undefined {
  const url = options['url'];
  const address = typeof url === 'string' ? url : env['KEYFRONT_URL'] || undefined;
  if (address === undefined && options['credential-file'] !== undefined) {
    throw new UsageError('--credential-file is for a service: name it with --url or KEYFRONT_URL.');
  }
  return address;
}

/**
 * For commands that work on the data folder only.
 *
 * @throws {UsageError} if KEYFRONT_URL names a service
 */
export function rejectServiceURL({ env }: IO): void {
  if (!env['KEYFRONT_URL']) return;
  throw new UsageError(
    'This command works on the data folder only, and KEYFRONT_URL names a service. Run it where the data folder is, with KEYFRONT_URL unset.',
  );
}

/**
 * Opens the storage that the environment names, runs `work`, and closes the storage.
 *
 * @param openOptions - `access: 'read'` for a command that only reads
 * @throws {UsageError} if KEYFRONT_URL names a service
 * @throws as `openServices`
 */
export async function withServices<T>(
  io: IO,
  openOptions: Required<Pick<OpenOptions, 'access'>> & Pick<OpenOptions, 'liveQuotas'>,
  work: (services: Services, settings: { config: Config; secrets: ConfigSecrets }) => Promise<T>,
): Promise<T> {
  rejectServiceURL(io);
  const { config, secrets } = readConfig(io.env);
  const report = (line: string) => io.stderr(`${line}\n`);
  return withOpen({ config, secrets }, { ...openOptions, report }, async (services) =>
    work(services, { config, secrets }),
  );
}

/**
 * Opens an installation, runs `work`, and closes it.
 *
 * @throws as `openServices`
 */
export async function withOpen<T>(
  { config, secrets }: { readonly config: Config; readonly secrets: ConfigSecrets },
  openOptions: OpenOptions,
  work: (services: Services) => Promise<T>,
): Promise<T> {
  const services = await openServices(config, secrets, {}, openOptions);
  try {
    return await work(services);
  } finally {
    await services.close();
  }
}

/**
 * Opens the domain on the data folder that the environment names. A service may run on it meanwhile.
 *
 * @param call the command and its options, of which the history records the name and the actor
 * @throws {InstallationNotFoundError}
 */
export async function withLocalPlace<T>(
  io: IO,
  {
    command,
    options,
    access,
  }: { readonly command: string; readonly options: OptionValues; readonly access: 'read' | 'write' },
  work: (place: LocalPlace) => Promise<T>,
): Promise<T> {
  const actor = localActor(io, command, options);
  try {
    return await withServices(io, { access, liveQuotas: true }, async ({ ports }) => {
      const caller = { ...actor, orgID: undefined, requestID: '' };
      return work({ keys: createKeyService(ports), caller });
    });
  } catch (error) {
    if (!(error instanceof InstallationNotFoundError)) throw error;
    throw new InstallationNotFoundError(`${error.message} To use a running service instead, pass --url.`);
  }
}
