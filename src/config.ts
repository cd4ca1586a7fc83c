import { join } from 'node:path';
import { keyHashAlgorithms, type KeyHashAlgorithm } from './secrets/key-hash.js';
import { logLevels, type LogLevel } from './log.js';
import { nearest } from './nearest.js';

/** How to run. Nothing in it is secret, so it may be logged. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly logLevel: LogLevel;
  readonly production: boolean;
  readonly databaseFile: string;
  readonly keyRingFile: string;
  readonly keyHash: KeyHashAlgorithm;
  readonly graphiql: boolean;
  readonly introspection: 'open' | 'credential';
  /** A JSON file of operations and their ids. */
  readonly trustedDocumentsFile: string | undefined;
  readonly onlyTrustedDocuments: boolean;
  /** For how long a deleted key can be restored. */
  readonly restoreWindowMs: number;
}

/** What must not be logged. */
export interface ConfigSecrets {
  readonly keyHashPepper: string | undefined;
}

/** Every setting of ours, with what it means; the README's table is checked against it. */
export const settings = {
  KEYFRONT_DATA: 'Folder of the database and the key ring. Default: data.',
  KEYFRONT_KEY_RING:
    'File of the keys that seal secrets, where it is not to lie beside the database. Default: key-ring.json in the data folder.',
  KEYFRONT_KEY_HASH: `How key identifiers are hashed: ${keyHashAlgorithms.join(', ')}. Default: sha256.`,
  KEYFRONT_KEY_HASH_PEPPER: 'The secret of hmac-sha256, at least 32 bytes.',
  KEYFRONT_RESTORE_DAYS:
    'For how many days a deleted key can be restored before it is purged, from 0 to 3650. Default: 30.',
  KEYFRONT_GRAPHIQL: 'on or off. Default: on in development, off in production.',
  KEYFRONT_INTROSPECTION:
    'Who may learn the GraphQL schema: open (everybody) or credential (requests with a valid one). Default: open in development, credential in production.',
  KEYFRONT_TRUSTED_DOCUMENTS: 'JSON file of GraphQL documents that can be asked for by their id. Default: none.',
  KEYFRONT_ONLY_TRUSTED_DOCUMENTS: 'on or off. Whether every other GraphQL document is refused. Default: off.',
} as const;

/** Reads the environment. Throws one Error that names every problem. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): {
  config: Config;
  secrets: ConfigSecrets;
} {
  const problems: string[] = [];
  const oneOf = <T extends string>(name: string, allowed: readonly T[], fallback: T): T => {
    const given = env[name];
    const value = allowed.find((candidate) => candidate === given);
    if (given !== undefined && value === undefined) problems.push(`${name} must be one of ${allowed.join(', ')}.`);
    return value ?? fallback;
  };

  for (const name of Object.keys(env).filter((key) => key.startsWith('KEYFRONT_') && !Object.hasOwn(settings, key))) {
    const meant = nearest(name, Object.keys(settings));
    problems.push(`${name} is not a setting${meant ? `; did you mean ${meant}?` : '.'}`);
  }

  const production = env['NODE_ENV'] === 'production';
  const host = env['HOST'] ?? '127.0.0.1';
  if (!production && !isLoopback(host)) {
    problems.push('HOST: development listens on loopback only; set NODE_ENV=production to listen anywhere else.');
  }
  const port = Number(env['PORT'] ?? '4000');
  if (!/^\d+$/.test(env['PORT'] ?? '4000') || port > 65_535) problems.push('PORT must be a number from 0 to 65535.');

  const keyHash = oneOf('KEYFRONT_KEY_HASH', keyHashAlgorithms, 'sha256');
  const keyHashPepper = env['KEYFRONT_KEY_HASH_PEPPER'];
  if (keyHash === 'hmac-sha256' && Buffer.byteLength(keyHashPepper ?? '') < 32) {
    problems.push('KEYFRONT_KEY_HASH_PEPPER must have at least 32 bytes for KEYFRONT_KEY_HASH=hmac-sha256.');
  }
  const restoreDays = env['KEYFRONT_RESTORE_DAYS'] ?? '30';
  if (!/^\d{1,4}$/.test(restoreDays) || Number(restoreDays) > 3650) {
    problems.push('KEYFRONT_RESTORE_DAYS must be a number of days from 0 to 3650.');
  }
  const trustedDocumentsFile = env['KEYFRONT_TRUSTED_DOCUMENTS'];
  const onlyTrustedDocuments = oneOf('KEYFRONT_ONLY_TRUSTED_DOCUMENTS', ['on', 'off'], 'off') === 'on';
  if (onlyTrustedDocuments && trustedDocumentsFile === undefined) {
    problems.push('KEYFRONT_ONLY_TRUSTED_DOCUMENTS=on needs a file of them in KEYFRONT_TRUSTED_DOCUMENTS.');
  }
  // An empty path would be the folder that the process happens to stand in.
  for (const name of ['KEYFRONT_DATA', 'KEYFRONT_KEY_RING', 'KEYFRONT_TRUSTED_DOCUMENTS'] as const) {
    if (env[name]?.trim() === '') problems.push(`${name} must name a ${name === 'KEYFRONT_DATA' ? 'folder' : 'file'}.`);
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
    restoreWindowMs: Number(restoreDays) * 86_400_000,
    graphiql: oneOf('KEYFRONT_GRAPHIQL', ['on', 'off'], production ? 'off' : 'on') === 'on',
    introspection: oneOf('KEYFRONT_INTROSPECTION', ['open', 'credential'], production ? 'credential' : 'open'),
    trustedDocumentsFile,
    onlyTrustedDocuments,
  };
  if (problems.length > 0)
    throw new Error(`The settings have problems:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  return { config, secrets: { keyHashPepper } };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
