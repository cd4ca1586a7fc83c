import { dirname, resolve } from 'node:path';
import type { Config, ConfigSecrets } from '../../config/config.js';
import type { Logger } from '../../lib/log.js';
import { version } from '../../lib/version.js';

interface StartedService {
  readonly config: Config;
  readonly secrets: ConfigSecrets;
  readonly url: string;
  readonly workers: number;
}

/** Logs that the service accepts requests, with its version, its address and the location of its data. */
export function logStart(log: Logger, { config, secrets, url, workers }: StartedService): void {
  const storage =
    secrets.databaseURL === undefined
      ? { storage: 'sqlite', data: resolve(dirname(config.databaseFile)) }
      : { storage: 'postgresql' };
  const quota = secrets.quotaURL === undefined ? 'database' : 'redis';
  log.info({ version, url, production: config.production, workers, ...storage, quota }, 'listening');
}
