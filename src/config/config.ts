import { join } from 'node:path';
import type * as z from 'zod';
import { previewsOnly } from '../credentials/oidc-mapping.js';
import { contradictionsIn } from './contradictions.js';
import { withoutServiceLinks, type Environment } from './service-links.js';
import { settingsFor } from './settings.js';
import { nearest } from '../lib/nearest.js';

/** The settings without secrets, which may be logged. {@link settingsFor} documents each of them. */
export type Config = Readonly<ReturnType<typeof configFrom>>;

/** The settings that must not be logged. */
export interface ConfigSecrets {
  readonly keyHashPepper: string | undefined;
  /** URL of the Redis with the live counters; undefined if they are in the database. */
  readonly quotaURL: string | undefined;
  /** URL of the PostgreSQL database; undefined for SQLite. */
  readonly databaseURL: string | undefined;
}

/**
 * Reads the settings from the environment.
 *
 * @throws {Error} that lists every problem: unknown names, invalid values and contradictions. Never quotes a value.
 */
export function readConfig(environment: Environment): { config: Config; secrets: ConfigSecrets } {
  const env = withoutServiceLinks(environment);
  const production = env['NODE_ENV'] === 'production';
  const settings = settingsFor(production);
  const { data, error } = settings.safeParse(env);
  const problems = [
    ...unknownSettingsIn(env, Object.keys(settings.shape)),
    ...(error?.issues ?? []).map(({ path, message }) => `${path.join('.')} ${message}`),
    ...contradictionsIn(env),
  ];
  if (!data || problems.length > 0) {
    throw new Error(`Invalid configuration:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  }
  const { KEYFRONT_DATABASE_URL: databaseURL, KEYFRONT_QUOTA_URL: quotaURL } = data;
  const secrets = unprinted({ keyHashPepper: data.KEYFRONT_KEY_HASH_PEPPER, databaseURL, quotaURL });
  return { config: configFrom(data, production), secrets };
}

function configFrom(data: z.output<ReturnType<typeof settingsFor>>, production: boolean) {
  const { KEYFRONT_TLS_CERT: certFile, KEYFRONT_TLS_KEY: keyFile } = data;
  const { KEYFRONT_OIDC_ISSUER: issuer, KEYFRONT_OIDC_AUDIENCE: audience, KEYFRONT_OIDC_CLIENT_ID: clientID } = data;
  const { KEYFRONT_METRICS_HOST: metricsHost, KEYFRONT_METRICS_PORT: metricsPort } = data;
  return {
    host: data.HOST,
    port: data.PORT,
    logLevel: data.LOG_LEVEL,
    production,
    databaseFile: join(data.KEYFRONT_DATA, 'keyfront.db'),
    cacheMiB: data.KEYFRONT_SQLITE_CACHE_MIB,
    keyRingFile: data.KEYFRONT_KEY_RING ?? join(data.KEYFRONT_DATA, 'key-ring.json'),
    keyHash: data.KEYFRONT_KEY_HASH,
    quotaKeys: data.KEYFRONT_QUOTA_KEYS,
    restoreWindowMs: data.KEYFRONT_RESTORE_DAYS * 86_400_000,
    expiryNoticeDays: data.KEYFRONT_EXPIRY_NOTICE_DAYS,
    proposalsKeptMs: data.KEYFRONT_PROPOSAL_DAYS * 86_400_000,
    graphiql: data.KEYFRONT_GRAPHIQL,
    console: data.KEYFRONT_CONSOLE,
    introspection: data.KEYFRONT_INTROSPECTION,
    trustedDocumentsFile: data.KEYFRONT_TRUSTED_DOCUMENTS,
    onlyTrustedDocuments: data.KEYFRONT_ONLY_TRUSTED_DOCUMENTS,
    graphqlLimits: {
      depth: data.KEYFRONT_GRAPHQL_MAX_DEPTH,
      aliases: data.KEYFRONT_GRAPHQL_MAX_ALIASES,
      routerFactor: data.KEYFRONT_GRAPHQL_ROUTER_FACTOR,
      directives: data.KEYFRONT_GRAPHQL_MAX_DIRECTIVES,
      mutations: data.KEYFRONT_GRAPHQL_MAX_MUTATIONS,
      cost: data.KEYFRONT_GRAPHQL_MAX_COST,
    },
    maxSubscriptions: data.KEYFRONT_MAX_SUBSCRIPTIONS,
    trustedProxies: data.KEYFRONT_TRUSTED_PROXIES,
    oidc:
      issuer !== undefined && audience !== undefined
        ? {
            issuer,
            audience,
            jwksURL: data.KEYFRONT_OIDC_JWKS_URL,
            mapping: data.KEYFRONT_OIDC_MAPPING ?? previewsOnly,
            browserClient:
              clientID === undefined
                ? undefined
                : { clientID, parameters: data.KEYFRONT_OIDC_SIGN_ON_PARAMETERS ?? {} },
          }
        : undefined,
    clientNames: data.KEYFRONT_CLIENT_NAMES ?? [],
    metrics: metricsPort === undefined ? undefined : { host: metricsHost, port: metricsPort },
    workerTimeoutMs: data.KEYFRONT_WORKER_TIMEOUT_SECONDS * 1_000,
    tls: certFile !== undefined && keyFile !== undefined ? { certFile, keyFile } : undefined,
    corsOrigins: data.KEYFRONT_CORS_ORIGINS ?? [],
    webhooksTo: data.KEYFRONT_WEBHOOKS_TO,
  };
}

/** Reports names that are not in `settings`. `KEYFRONT_PORT` probably stands for `PORT`. */
function unknownSettingsIn(env: Environment, settings: readonly string[]): string[] {
  // Without the prefix, which all have in common and which would make any two names similar.
  const byName = new Map(settings.map((name) => [name.replace(/^KEYFRONT_/, ''), name]));
  return Object.keys(env)
    .filter((name) => name.startsWith('KEYFRONT_') && !settings.includes(name))
    .map((name) => {
      const text = name.replace(/^KEYFRONT_/, '');
      const longer = [...byName.keys()].find((known) => known.startsWith(`${text}_`));
      const suggested = byName.get(nearest(text, byName.keys()) ?? longer ?? '');
      if (suggested !== undefined) return `${name} is not a setting; did you mean ${suggested}?`;
      return `${name} is not a setting. \`keyfront serve --help\` lists the settings.`;
    });
}

/** Makes the members non-enumerable, so that printing, copying or serializing the object does not reveal them. */
function unprinted<T extends object>(secrets: T): T {
  for (const name of Object.keys(secrets)) Object.defineProperty(secrets, name, { enumerable: false });
  return secrets;
}
