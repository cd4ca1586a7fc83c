import { readConfig } from '../config.js';
import { openInstallation, type Installation } from '../installation.js';
import type { IO } from './io.js';

/** Opens the data folder that the environment names, and closes it whatever `work` does. */
export async function withInstallation<T>(io: IO, work: (installation: Installation) => Promise<T>): Promise<T> {
  const { config, secrets } = readConfig(io.env);
  const installation = openInstallation(config, secrets, {}, { report: (line) => io.say(`${line}\n`) });
  try {
    return await work(installation);
  } finally {
    installation.close();
  }
}
