import type { Config } from '../../config/config.js';
import { missingNodeOptions } from '../../config/node-options.js';
import type { Logger } from '../../lib/log.js';
import { isLoopback } from '../../lib/loopback.js';
import type { IO } from '../io.js';

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
