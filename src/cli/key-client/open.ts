import { readConfig, type Config, type ConfigSecrets } from '../../config/config.js';
import { openServices, type OpenOptions, type Services } from '../../storage/open-storage.js';
import { UsageError, type IO } from '../io.js';

/**
 * Opens the storage that the environment names, runs `work`, and closes the storage.
 *
 * @param openOptions a command that only reads opens with `access: 'read'`
 * @throws {UsageError} if KEYFRONT_URL names a service
 * @throws as `openServices`
 */
export async function withServices<T>(
  io: IO,
  openOptions: Required<Pick<OpenOptions, 'access'>> & Pick<OpenOptions, 'liveQuotas'>,
  work: (services: Services, settings: { config: Config; secrets: ConfigSecrets }) => Promise<T>,
): Promise<T> {
  if (io.env['KEYFRONT_URL']) {
    throw new UsageError(
      'This command works on the data folder only, and KEYFRONT_URL names a service. Run it where the data folder is, with KEYFRONT_URL unset.',
    );
  }
  const { config, secrets } = readConfig(io.env);
  const report = (line: string) => io.stderr(`${line}\n`);
  const services = await openServices(config, secrets, {}, { ...openOptions, report });
  try {
    return await work(services, { config, secrets });
  } finally {
    await services.close();
  }
}
