import { readConfig, type Config, type ConfigSecrets } from '../../config/config.js';
import { openServices, type Services, type OpenOptions } from '../../storage/open-storage.js';
import type { IO } from '../io.js';

/**
 * Opens the installation that the environment names, and closes it when `work` has ended.
 *
 * @param opening what the command needs: a command that only reads opens with `access: 'read'`.
 * @throws as `openServices`.
 */
export async function withServices<T>(
  io: IO,
  opening: Required<Pick<OpenOptions, 'access'>> & Pick<OpenOptions, 'liveQuotas'>,
  work: (installation: Services, settings: { config: Config; secrets: ConfigSecrets }) => Promise<T>,
): Promise<T> {
  const { config, secrets } = readConfig(io.env);
  const installation = await openServices(
    config,
    secrets,
    {},
    { ...opening, report: (line) => io.stderr(`${line}\n`) },
  );
  try {
    return await work(installation, { config, secrets });
  } finally {
    await installation.close();
  }
}
