import { readConfig, type Config, type ConfigSecrets } from '../config.js';
import { openInstallation, type Installation } from '../installation.js';
import type { IO } from './io.js';

/** Opens the data folder that the environment names, and closes it whatever `work` does. */
export async function withInstallation<T>(
  io: IO,
  work: (installation: Installation, settings: { config: Config; secrets: ConfigSecrets }) => Promise<T>,
): Promise<T> {
  const { config, secrets } = readConfig(io.env);
  const installation = openInstallation(config, secrets, {}, { report: (line) => io.say(`${line}\n`) });
  try {
    return await work(installation, { config, secrets });
  } finally {
    installation.close();
  }
}
