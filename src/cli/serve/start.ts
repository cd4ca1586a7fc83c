import { dirname, resolve } from 'node:path';
import type { Config, ConfigSecrets } from '../../config/config.js';
import { missingNodeOptions } from '../../config/node-options.js';
import type { Logger } from '../../lib/log.js';
import { isLoopback } from '../../lib/loopback.js';
import { version } from '../../lib/version.js';
import type { IO } from '../io.js';

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

/** Logs a warning for each insecure part of the setup. */
export function warnAboutSetup({ production, tls, host }: Config, { nodeOptions }: IO, log: Logger): void {
  if (!tls && !isLoopback(host)) {
    log.warn(
      'serving plain HTTP on a non-loopback address: terminate TLS in a proxy, or set KEYFRONT_TLS_CERT and KEYFRONT_TLS_KEY',
    );
  }
  const missing = production && nodeOptions ? missingNodeOptions(nodeOptions) : [];
  if (missing.length > 0)
    log.warn({ missing }, 'Node runs without its hardening options: use `keyfront serve` or `npm start`');
}

/** The uncaught exceptions of this process. */
interface UncaughtExceptions {
  /** Resolves to the first one. */
  readonly first: Promise<Error>;
  readonly count: () => number;
}

/** Logs every uncaught exception from now on. */
export function trackUncaughtExceptions(io: IO, log: Logger): UncaughtExceptions {
  let count = 0;
  const first = new Promise<Error>((resolve) =>
    io.onUncaughtException?.((thrown) => {
      count += 1;
      const error = thrown instanceof Error ? thrown : new Error('A value that is no Error was thrown.');
      log.fatal({ err: error }, 'uncaught exception');
      resolve(error);
    }),
  );
  return { first, count: () => count };
}
