import { join } from 'node:path';
import { oidcSettings, readOIDCSettings, type OIDCSettings } from './auth/oidc-settings.js';
import { withoutServiceLinks } from './config/service-links.js';
import { keyHashAlgorithms, type KeyHashAlgorithm } from './secrets/key-hash.js';
import { logLevels, type LogLevel } from './log.js';
import { nearest } from './nearest.js';
import { targetKinds, type TargetKind } from './webhooks/targets.js';

/** How to run. Nothing in it is secret, so it may be logged. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly logLevel: LogLevel;
  readonly production: boolean;
  readonly databaseFile: string;
  readonly keyRingFile: string;
  readonly keyHash: KeyHashAlgorithm;
  /** How live counters are called in Redis, with a place for the hash of a key. */
  readonly quotaKeys: string;
  readonly graphiql: boolean;
  readonly introspection: 'open' | 'credential';
  /** A JSON file of operations and their ids. */
  readonly trustedDocumentsFile: string | undefined;
  readonly onlyTrustedDocuments: boolean;
  /** Undefined for plain HTTP. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** The origins whose pages may call us from a browser. */
  readonly corsOrigins: readonly string[];
  /** For how long a deleted key can be restored. */
  readonly restoreWindowMs: number;
  /** How many proxies stand in front, whose word on where a request comes from is believed. */
  readonly trustedProxies: number;
  /** Single sign-on for management; undefined where it is not set up. */
  readonly oidc: OIDCSettings | undefined;
  /** Where metrics are read; undefined where they are not measured. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined;
  /** How long a worker may not respond before it is killed and replaced. */
  readonly workerTimeoutMs: number;
  /** How far from public addresses webhooks may go. */
  readonly webhooksTo: TargetKind;
}

/** What must not be logged. */
export interface ConfigSecrets {
  readonly keyHashPepper: string | undefined;
  /** Of the Redis that live counters stand in; undefined where they stand with their keys. */
  readonly quotaURL: string | undefined;
  /** Of a PostgreSQL database, which takes the place of the file; undefined for the file. */
  readonly databaseURL: string | undefined;
}

/** Settings under their customary names, with what they mean. */
const customarySettings = {
  NODE_ENV: 'development, test or production. Default: development.',
  HOST: 'Address to listen on; beyond loopback in production only. Default: 127.0.0.1.',
  PORT: 'Port to listen on. Default: 4000.',
  LOG_LEVEL: `What is logged: ${logLevels.join(', ')}. Default: info.`,
} as const;

/** Every setting, with what it means. OPERATING.md lists them in this order. */
export const settings = {
  ...customarySettings,
  KEYFRONT_DATA: 'Folder of the database and the key ring. Default: data.',
  KEYFRONT_DATABASE_URL:
    'PostgreSQL database in place of the SQLite file, such as postgres://user:PASS@host:5432/keyfront. Kept out of every log.',
  KEYFRONT_QUOTA_URL:
    'Redis 7 or Valkey for the live quota, such as redis://:PASS@host:6379 or rediss://…, in place of the database. Kept out of every log.',
  KEYFRONT_QUOTA_KEYS:
    'How a counter is called there; {keyHash} stands for the hash of its key. Default: keyfront:quota:{keyHash}.',
  KEYFRONT_KEY_RING:
    'File of the keys that seal secrets, where it is not to lie beside the database. Default: key-ring.json in the data folder.',
  KEYFRONT_KEY_HASH: `How key identifiers are hashed: ${keyHashAlgorithms.join(', ')}. Default: sha256.`,
  KEYFRONT_KEY_HASH_PEPPER: 'The secret of hmac-sha256, at least 32 bytes.',
  KEYFRONT_RESTORE_DAYS:
    'For how many days a deleted key can be restored before it is purged, from 0 to 3650. Default: 30.',
  KEYFRONT_GRAPHIQL:
    'on or off: GraphiQL at `/` and the REST documents at `/docs`. Default: on in development, off in production.',
  KEYFRONT_INTROSPECTION:
    'Who may learn the GraphQL schema and read `/openapi.json`: open (everybody) or credential (requests with a valid one). Default: open in development, credential in production.',
  KEYFRONT_TRUSTED_DOCUMENTS: 'JSON file of GraphQL documents that can be asked for by their id. Default: none.',
  KEYFRONT_ONLY_TRUSTED_DOCUMENTS: 'on or off. Whether every other GraphQL document is refused. Default: off.',
  KEYFRONT_TRUSTED_PROXIES:
    'How many proxies stand in front and add to X-Forwarded-For, from 0 to 10. Default: 0, and the header is not looked at.',
  ...oidcSettings,
  KEYFRONT_TLS_CERT:
    'File of the certificate and its chain, in PEM form, to speak TLS (1.2 or later) instead of plain HTTP.',
  KEYFRONT_TLS_KEY: 'File of the private key that belongs to the certificate, in PEM form.',
  KEYFRONT_CORS_ORIGINS:
    'Origins whose pages may call the service from a browser, such as https://dash.example.com, separated by commas. Default: none.',
  KEYFRONT_WEBHOOKS_TO:
    'Where webhooks may go: public (https only), loopback (also this machine, over http too) or private (also private networks, over http too). Default: loopback in development, public in production.',
  KEYFRONT_URL:
    'For the command line: the service whose keys `get`, `diff`, `put` and the like are about. Default: none, and they work on the data folder.',
  KEYFRONT_SERVICE_CREDENTIAL: 'For the command line: the credential that it asks that service with.',
  KEYFRONT_MANAGEMENT_CREDENTIAL: 'For the command line: the credential of `keyfront preview --url`.',
  KEYFRONT_WORKER_TIMEOUT_SECONDS:
    'Seconds, from 1 to 3600, for which a worker of `serve --workers` may not respond before it is killed and replaced. Default: 30.',
  KEYFRONT_METRICS_PORT:
    'Port at which Prometheus reads /metrics, without a credential and apart from all else. Default: none, and nothing is measured.',
  KEYFRONT_METRICS_HOST: 'Address of that port; beyond loopback in production only. Default: 127.0.0.1.',
} as const;

/**
 * Reads the settings from the environment.
 *
 * @throws {Error} One that names every problem.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): {
  config: Config;
  secrets: ConfigSecrets;
} {
  const env = withoutServiceLinks(environment);
  const problems: string[] = [];
  const oneOf = <T extends string>(name: string, allowed: readonly T[], fallback: T): T => {
    const given = env[name];
    const value = allowed.find((candidate) => candidate === given);
    if (given !== undefined && value === undefined) problems.push(`${name} must be one of ${allowed.join(', ')}.`);
    return value ?? fallback;
  };

  for (const name of Object.keys(env).filter((key) => key.startsWith('KEYFRONT_') && !Object.hasOwn(settings, key))) {
    const suggested = suggestedFor(name);
    problems.push(`${name} is not a setting${suggested ? `; did you mean ${suggested}?` : '.'}`);
  }

  const profile = oneOf('NODE_ENV', ['development', 'test', 'production'], 'development');
  const production = profile === 'production';
  const host = env['HOST'] ?? '127.0.0.1';
  if (host.trim() === '') {
    // Node would listen on every address.
    problems.push('HOST must not be empty: give an address, 0.0.0.0 for all of IPv4.');
  } else if (!production && !isLoopback(host)) {
    problems.push('HOST: development listens on loopback only; set NODE_ENV=production to listen anywhere else.');
  }
  const port = Number(env['PORT'] ?? '4000');
  if (!/^\d+$/.test(env['PORT'] ?? '4000') || port > 65_535) problems.push('PORT must be a number from 0 to 65535.');

  const { metrics, problems: metricsProblems } = readMetricsSettings(env, { production, port });
  problems.push(...metricsProblems);

  const keyHash = oneOf('KEYFRONT_KEY_HASH', keyHashAlgorithms, 'sha256');
  const keyHashPepper = env['KEYFRONT_KEY_HASH_PEPPER'];
  if (keyHash === 'hmac-sha256' && Buffer.byteLength(keyHashPepper ?? '') < 32) {
    problems.push('KEYFRONT_KEY_HASH_PEPPER must have at least 32 bytes for KEYFRONT_KEY_HASH=hmac-sha256.');
  }
  const databaseURL = env['KEYFRONT_DATABASE_URL'];
  // The value is never repeated: it holds a password.
  if (databaseURL !== undefined && !isPostgresURL(databaseURL)) {
    problems.push('KEYFRONT_DATABASE_URL must be a URL of the form postgres://user:PASS@host:5432/database.');
  }
  const quotaURL = env['KEYFRONT_QUOTA_URL'];
  if (quotaURL !== undefined && !isRedisURL(quotaURL)) {
    problems.push('KEYFRONT_QUOTA_URL must be a URL of the form redis://user:PASS@host:6379/0, or rediss:// for TLS.');
  }
  const quotaKeys = env['KEYFRONT_QUOTA_KEYS'];
  if (quotaKeys !== undefined && quotaURL === undefined) {
    problems.push('KEYFRONT_QUOTA_KEYS is of use with KEYFRONT_QUOTA_URL only.');
  }
  if (quotaKeys !== undefined && !isNamePattern(quotaKeys)) {
    problems.push(
      'KEYFRONT_QUOTA_KEYS must hold {keyHash} once, no other braces and no spaces, such as quota-{keyHash}.',
    );
  }
  const restoreDays = env['KEYFRONT_RESTORE_DAYS'] ?? '30';
  if (!/^\d{1,4}$/.test(restoreDays) || Number(restoreDays) > 3650) {
    problems.push('KEYFRONT_RESTORE_DAYS must be a number of days from 0 to 3650.');
  }
  const workerTimeout = env['KEYFRONT_WORKER_TIMEOUT_SECONDS'] ?? '30';
  if (!/^[1-9]\d{0,3}$/.test(workerTimeout) || Number(workerTimeout) > 3600) {
    problems.push('KEYFRONT_WORKER_TIMEOUT_SECONDS must be a number of seconds from 1 to 3600.');
  }
  const trustedDocumentsFile = env['KEYFRONT_TRUSTED_DOCUMENTS'];
  const onlyTrustedDocuments = oneOf('KEYFRONT_ONLY_TRUSTED_DOCUMENTS', ['on', 'off'], 'off') === 'on';
  if (onlyTrustedDocuments && trustedDocumentsFile === undefined) {
    problems.push('KEYFRONT_ONLY_TRUSTED_DOCUMENTS=on needs a file of them in KEYFRONT_TRUSTED_DOCUMENTS.');
  }
  const trustedProxies = env['KEYFRONT_TRUSTED_PROXIES'] ?? '0';
  if (!/^(\d|10)$/.test(trustedProxies)) problems.push('KEYFRONT_TRUSTED_PROXIES must be a number from 0 to 10.');
  const { oidc, problems: oidcProblems } = readOIDCSettings(env);
  problems.push(...oidcProblems);
  if (keyHash !== 'hmac-sha256' && keyHashPepper !== undefined) {
    problems.push('KEYFRONT_KEY_HASH_PEPPER is of use with KEYFRONT_KEY_HASH=hmac-sha256 only.');
  }
  // An empty path would be the folder that the process happens to stand in.
  for (const name of [
    'KEYFRONT_DATA',
    'KEYFRONT_KEY_RING',
    'KEYFRONT_TLS_CERT',
    'KEYFRONT_TLS_KEY',
    'KEYFRONT_TRUSTED_DOCUMENTS',
  ] as const) {
    if (env[name]?.trim() === '') problems.push(`${name} must name a ${name === 'KEYFRONT_DATA' ? 'folder' : 'file'}.`);
  }
  const { KEYFRONT_TLS_CERT: certFile, KEYFRONT_TLS_KEY: keyFile } = env;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    problems.push('KEYFRONT_TLS_CERT and KEYFRONT_TLS_KEY belong together; one of them is missing.');
  }
  const corsOrigins = (env['KEYFRONT_CORS_ORIGINS']?.split(',') ?? []).map((origin) => origin.trim());
  if (!corsOrigins.every(isOrigin)) {
    problems.push(
      'KEYFRONT_CORS_ORIGINS must be origins as a browser writes them, such as https://dash.example.com, separated by commas.',
    );
  }
  const data = env['KEYFRONT_DATA'] ?? 'data';
  const config: Config = {
    host,
    port,
    logLevel: oneOf('LOG_LEVEL', logLevels, 'info'),
    production,
    databaseFile: join(data, 'keyfront.db'),
    keyRingFile: env['KEYFRONT_KEY_RING'] ?? join(data, 'key-ring.json'),
    keyHash,
    quotaKeys: quotaKeys ?? 'keyfront:quota:{keyHash}',
    restoreWindowMs: Number(restoreDays) * 86_400_000,
    graphiql: oneOf('KEYFRONT_GRAPHIQL', ['on', 'off'], production ? 'off' : 'on') === 'on',
    introspection: oneOf('KEYFRONT_INTROSPECTION', ['open', 'credential'], production ? 'credential' : 'open'),
    trustedDocumentsFile,
    onlyTrustedDocuments,
    trustedProxies: Number(trustedProxies),
    oidc,
    metrics,
    workerTimeoutMs: Number(workerTimeout) * 1_000,
    tls: certFile !== undefined && keyFile !== undefined ? { certFile, keyFile } : undefined,
    corsOrigins,
    webhooksTo: oneOf('KEYFRONT_WEBHOOKS_TO', targetKinds, production ? 'public' : 'loopback'),
  };
  if (problems.length > 0)
    throw new Error(`The settings have problems:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  return { config, secrets: unprinted({ keyHashPepper, databaseURL, quotaURL }) };
}

function readMetricsSettings(
  env: Readonly<Record<string, string | undefined>>,
  service: Pick<Config, 'production' | 'port'>,
): { metrics: Config['metrics']; problems: readonly string[] } {
  const { KEYFRONT_METRICS_PORT: given, KEYFRONT_METRICS_HOST: host = '127.0.0.1' } = env;
  if (given === undefined) {
    const isLonely = env['KEYFRONT_METRICS_HOST'] !== undefined;
    return {
      metrics: undefined,
      problems: isLonely ? ['KEYFRONT_METRICS_HOST is of use with KEYFRONT_METRICS_PORT only.'] : [],
    };
  }
  const port = Number(given);
  const isPort = /^\d+$/.test(given) && port <= 65_535;
  return {
    metrics: { host, port },
    problems: [
      ...(isPort ? [] : ['KEYFRONT_METRICS_PORT must be a number from 0 to 65535.']),
      ...(isPort && port !== 0 && port === service.port
        ? ['KEYFRONT_METRICS_PORT must be another port than PORT: strangers may reach that one.']
        : []),
      ...(host.trim() === '' ? ['KEYFRONT_METRICS_HOST must not be empty: give an address.'] : []),
      ...(service.production || isLoopback(host) || host.trim() === ''
        ? []
        : ['KEYFRONT_METRICS_HOST: development listens on loopback only; set NODE_ENV=production for anything else.']),
    ],
  };
}

/** The setting that an unknown name probably stands for. `KEYFRONT_PORT` stands for `PORT`. */
function suggestedFor(name: string): string | undefined {
  const customary = Object.keys(customarySettings).map((setting) => [`KEYFRONT_${setting}`, setting] as const);
  const others = Object.keys(settings).map((setting) => [setting, setting] as const);
  const byName = new Map<string, string>([...others, ...customary]);
  return byName.get(nearest(name, byName.keys()) ?? '');
}

/** The same members, which no printing, copying or serialising of the whole shows. */
function unprinted<T extends object>(secrets: T): T {
  for (const name of Object.keys(secrets)) Object.defineProperty(secrets, name, { enumerable: false });
  return secrets;
}

function isPostgresURL(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(text) && new URL(text).pathname.length > 1;
}

function isRedisURL(text: string): boolean {
  return /^rediss?:\/\/[^/]/.test(text) && URL.canParse(text) && /^(\/\d*)?$/.test(new URL(text).pathname);
}

/** Whether the text can name counters: it has one place for the hash, and no other braces, which Redis would read. */
function isNamePattern(pattern: string): boolean {
  const [before, after, ...more] = pattern.split('{keyHash}');
  return after !== undefined && more.length === 0 && /^[!-z|~]{0,200}$/.test(`${before}${after}`);
}

/** Whether the text is an origin to the letter: no path, no final slash, no capital, no port that goes without saying. */
function isOrigin(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** Whether only this machine can reach the address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
