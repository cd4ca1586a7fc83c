import { readConfig, type Config, type ConfigSecrets } from '../../config/config.js';
import { openServices, type OpenOptions, type Services } from '../../storage/open-storage.js';
import type { IO } from '../io.js';

/**
 * Opens the storage that the environment names, runs `work`, and closes the storage.
 *
 * @param openOptions a command that only reads opens with `access: 'read'`
 * @throws as `openServices`
 */
export async function withServices<T>(
  io: IO,
  openOptions: Required<Pick<OpenOptions, 'access'>> & Pick<OpenOptions, 'liveQuotas'>,
  work: (services: Services, settings: { config: Config; secrets: ConfigSecrets }) => Promise<T>,
): Promise<T> {
  const { config, secrets } = readConfig(io.env);
  const report = (line: string) => io.stderr(`${line}\n`);
  const services = await openServices(config, secrets, {}, { ...openOptions, report });
  try {
    return await work(services, { config, secrets });
  } finally {
    await services.close();
  }
}
