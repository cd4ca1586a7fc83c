import type { Environment } from './service-links.js';
import { isLoopback } from '../lib/loopback.js';

/** Returns one sentence for each combination of settings that is not valid. Single values are validated elsewhere. */
export function contradictionsIn(env: Environment): string[] {
  const has = (name: string) => env[name] !== undefined;
  // An empty host is reported elsewhere.
  const isExposed = (host = '') => env['NODE_ENV'] !== 'production' && host.trim() !== '' && !isLoopback(host);
  const isHMAC = env['KEYFRONT_KEY_HASH'] === 'hmac-sha256';
  const pepper = env['KEYFRONT_KEY_HASH_PEPPER'];
  const { PORT: port = '4000', KEYFRONT_METRICS_PORT: metricsPort } = env;
  const oidc = Object.keys(env).filter((name) => name.startsWith('KEYFRONT_OIDC_') && has(name));
  const problems: Readonly<Record<string, boolean>> = {
    'HOST: development listens on loopback only; set NODE_ENV=production to listen anywhere else.': isExposed(
      env['HOST'],
    ),
    'KEYFRONT_METRICS_HOST requires KEYFRONT_METRICS_PORT.': has('KEYFRONT_METRICS_HOST') && metricsPort === undefined,
    'KEYFRONT_METRICS_PORT must be another port than PORT, which clients can reach.':
      metricsPort !== undefined && Number(metricsPort) !== 0 && Number(metricsPort) === Number(port),
    'KEYFRONT_METRICS_HOST: development listens on loopback only; set NODE_ENV=production for anything else.':
      metricsPort !== undefined && isExposed(env['KEYFRONT_METRICS_HOST']),
    'KEYFRONT_KEY_HASH_PEPPER must have at least 32 bytes for KEYFRONT_KEY_HASH=hmac-sha256.':
      isHMAC && Buffer.byteLength(pepper ?? '') < 32,
    'KEYFRONT_KEY_HASH_PEPPER requires KEYFRONT_KEY_HASH=hmac-sha256.': !isHMAC && pepper !== undefined,
    'KEYFRONT_QUOTA_KEYS requires KEYFRONT_QUOTA_URL.': has('KEYFRONT_QUOTA_KEYS') && !has('KEYFRONT_QUOTA_URL'),
    'KEYFRONT_ONLY_TRUSTED_DOCUMENTS=on requires KEYFRONT_TRUSTED_DOCUMENTS.':
      env['KEYFRONT_ONLY_TRUSTED_DOCUMENTS'] === 'on' && !has('KEYFRONT_TRUSTED_DOCUMENTS'),
    [`${oidc.join(', ')}: single sign-on requires KEYFRONT_OIDC_ISSUER.`]:
      oidc.length > 0 && !has('KEYFRONT_OIDC_ISSUER'),
    'KEYFRONT_OIDC_ISSUER requires KEYFRONT_OIDC_AUDIENCE.':
      has('KEYFRONT_OIDC_ISSUER') && !has('KEYFRONT_OIDC_AUDIENCE'),
    'KEYFRONT_OIDC_SIGN_ON_PARAMETERS requires KEYFRONT_OIDC_CLIENT_ID.':
      has('KEYFRONT_OIDC_SIGN_ON_PARAMETERS') && !has('KEYFRONT_OIDC_CLIENT_ID'),
    'KEYFRONT_TLS_CERT and KEYFRONT_TLS_KEY belong together; one of them is missing.':
      has('KEYFRONT_TLS_CERT') !== has('KEYFRONT_TLS_KEY'),
  };
  return Object.keys(problems).filter((problem) => problems[problem]);
}
