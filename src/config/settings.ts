import * as z from 'zod';
import { claimMapping } from '../credentials/oidc-mapping.js';
import { isTrustworthy } from '../credentials/oidc-settings.js';
import { parseJSON } from '../lib/json.js';
import { logLevels } from '../lib/log.js';
import { keyHashAlgorithms } from '../crypto/key-hash.js';
import { addressKinds } from '../webhooks/address-policy.js';
import { urlsOfHosts } from '../lib/postgres-hosts.js';
import { sentinelsOf } from './redis-sentinels.js';

const matching = (isValid: (text: string) => boolean, error: string) => z.string().refine(isValid, error);

const nonEmpty = (error: string) => matching((text) => text.trim() !== '', error);

const oneOf = <const T extends string>(values: readonly T[]) => z.enum(values, `must be one of ${values.join(', ')}.`);

const integer = (min: number, max: number, unit = '') => {
  const error = `must be a number ${unit}from ${min} to ${max}.`;
  return z.string().regex(/^\d+$/, error).transform(Number).pipe(z.number().min(min, error).max(max, error));
};

const port = integer(0, 65_535);
const onOff = oneOf(['on', 'off']).transform((value) => value === 'on');
// An empty path would be the working directory.
const file = nonEmpty('must name a file.');
const mapping = z.string().transform((text, context) => {
  const fail = (message: string) => {
    context.addIssue(message);
    return z.NEVER;
  };
  let found: unknown;
  try {
    found = parseJSON(text);
  } catch {
    return fail(
      'must be JSON, such as {"rules":[{"claim":"groups","value":"keyfront-admins","role":"administrator"}]}.',
    );
  }
  const { data, error } = claimMapping.safeParse(found);
  const [first] = error?.issues ?? [];
  if (data) return data;
  return fail(
    `is not valid at ${first === undefined ? '' : z.core.toDotPath(first.path) || 'its top'}: ${first?.message}.`,
  );
});
/** Parameters of an authorization request that the page sets itself, with the values of each sign-on. */
const ownParameters = [
  'client_id',
  'response_type',
  'response_mode',
  'redirect_uri',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
];
const signOnParameters = z
  .string()
  .transform((text) => Object.fromEntries(new URLSearchParams(text)))
  .refine(
    (found) => Object.entries(found).every(([name, value]) => /^[\w.-]+$/.test(name) && value !== ''),
    'must be a query string, such as scope=openid%20profile&audience=https://keyfront.example.com.',
  )
  .refine(
    (found) => Object.keys(found).every((name) => !ownParameters.includes(name)),
    `must not contain ${ownParameters.join(', ')}, which the page sets.`,
  )
  .refine(({ scope = 'openid' }) => scope.split(' ').includes('openid'), 'must have openid among the words of scope.');

const trustedURLError = 'must be an https URL, or an http URL of a loopback address';
const postgresURL = matching(isPostgresURL, 'must be a URL of the form postgres://user:PASS@host:5432/database.');
const redisURL = matching(
  isRedisURL,
  'must be a URL of the form redis://user:PASS@host:6379/0 or redis+sentinel://user:PASS@host:26379,host:26379/NAME, or rediss for TLS.',
);
const counterName = matching(
  isNamePattern,
  'must hold {keyHash} once, no other braces and no spaces, such as quota-{keyHash}.',
);
const origins = z
  .string()
  .transform((text) => text.split(',').map((origin) => origin.trim()))
  .refine(
    (all) => all.every(isOrigin),
    'must be origins as a browser writes them, such as https://dash.example.com, separated by commas.',
  );

const noticeDays = z
  .string()
  .transform((text) => (text.trim() === 'off' ? [] : text.split(',').map((item) => item.trim())))
  .refine(
    (all) =>
      all.length <= 10 && all.every((item) => /^\d{1,3}$/.test(item) && Number(item) >= 1 && Number(item) <= 365),
    'must be off, or at most 10 numbers of days from 1 to 365, separated by commas.',
  )
  .transform((all) => all.map(Number));

const clientNames = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .refine(
    (all) => all.length <= 50 && all.every((name) => /^[\w.@/-]{1,64}$/.test(name)),
    'must be at most 50 names of letters, digits and . @ / _ -, separated by commas.',
  );

const schemas = new Map<boolean, Settings>();

/** Returns the schema of the settings. It is built once, because that and its first use take milliseconds. */
export function settingsFor(production: boolean): Settings {
  const schema = schemas.get(production) ?? buildSchema(production);
  schemas.set(production, schema);
  return schema;
}

type Settings = ReturnType<typeof buildSchema>;

/**
 * Every setting by name: format, default and meaning. `--help` and docs/configuration.md list them in this order. An error
 * message follows the name of the setting and never repeats the value, which may be a secret.
 */
const buildSchema = (production: boolean) =>
  z.object({
    NODE_ENV: oneOf(['development', 'test', 'production'])
      .prefault('development')
      .describe('development, test or production.'),
    // Node would listen on every address if it were empty.
    HOST: nonEmpty('must not be empty: give an address, 0.0.0.0 for all of IPv4.')
      .prefault('127.0.0.1')
      .describe('Address to listen on; beyond loopback in production only.'),
    PORT: port.prefault('4000').describe('Port to listen on.'),
    LOG_LEVEL: oneOf(logLevels)
      .prefault('info')
      .describe(`Lowest level that is logged: ${logLevels.join(', ')}.`),
    KEYFRONT_TLS_CERT: file
      .optional()
      .describe('File of the certificate and its chain, in PEM form, to use TLS (1.2 or later) instead of plain HTTP.'),
    KEYFRONT_TLS_KEY: file.optional().describe('File of the private key that belongs to the certificate, in PEM form.'),
    KEYFRONT_TRUSTED_PROXIES: integer(0, 10)
      .prefault('0')
      .describe(
        'Number of proxies in front of the service that append to X-Forwarded-For, from 0 to 10; 0 ignores the header.',
      ),
    KEYFRONT_CORS_ORIGINS: origins
      .optional()
      .describe(
        'Origins whose pages may call the service from a browser, such as https://dash.example.com, separated by commas. Default: none.',
      ),
    KEYFRONT_WORKER_TIMEOUT_SECONDS: integer(1, 3600, 'of seconds ')
      .prefault('30')
      .describe(
        'Seconds, from 1 to 3600, for which a worker of `serve --workers` may not respond before it is killed and replaced.',
      ),
    KEYFRONT_DATA: nonEmpty('must name a folder.')
      .prefault('data')
      .describe('Folder of the database and the key ring.'),
    KEYFRONT_SQLITE_CACHE_MIB: integer(1, 65_536, 'of MiB ')
      .prefault('64')
      .describe('Memory in which each process keeps pages of the SQLite file, from 1 to 65536 MiB.'),
    KEYFRONT_DATABASE_URL: postgresURL
      .optional()
      .describe(
        'PostgreSQL database in place of the SQLite file, such as postgres://user:PASS@host:5432/keyfront, or @first:5432,second:5432 for a primary and its standbys. Never logged.',
      ),
    KEYFRONT_KEY_RING: file
      .optional()
      .describe('File of the keys that encrypt secrets. Default: key-ring.json in the data folder.'),
    KEYFRONT_KEY_HASH: oneOf(keyHashAlgorithms)
      .prefault('sha256')
      .describe(`Hash algorithm of key identifiers: ${keyHashAlgorithms.join(', ')}.`),
    KEYFRONT_KEY_HASH_PEPPER: z.string().optional().describe('The secret of hmac-sha256, at least 32 bytes.'),
    KEYFRONT_RESTORE_DAYS: integer(0, 3650, 'of days ')
      .prefault('30')
      .describe('Days for which a deleted key can be restored before it is purged, from 0 to 3650.'),
    KEYFRONT_EXPIRY_NOTICE_DAYS: noticeDays
      .prefault('30,7,1')
      .describe(
        'How many days before a key expires there is an event: up to 10 numbers from 1 to 365, separated by commas, or off. The event of the expiry itself stays.',
      ),
    KEYFRONT_PROPOSAL_DAYS: integer(1, 3650, 'of days ')
      .prefault('365')
      .describe(
        'Days for which a proposal is kept after its end, with the names of who proposed and decided it, from 1 to 3650.',
      ),
    KEYFRONT_QUOTA_URL: redisURL
      .optional()
      .describe(
        'Redis 7 or Valkey for the live quota, such as redis://:PASS@host:6379 or rediss://…, in place of the database; or redis+sentinel://:PASS@host:26379,host:26379/NAME for the primary NAME of Sentinel. Never logged.',
      ),
    KEYFRONT_QUOTA_KEYS: counterName
      .prefault('keyfront:quota:{keyHash}')
      .describe('Name of a counter in Redis; {keyHash} stands for the hash of its key.'),
    KEYFRONT_GRAPHIQL: onOff
      .prefault(production ? 'off' : 'on')
      .describe('on or off: GraphiQL at `/` and the REST documents at `/docs`.'),
    KEYFRONT_CONSOLE: onOff
      .prefault(production ? 'off' : 'on')
      .describe('on or off: the console for keys at `/console`.'),
    KEYFRONT_INTROSPECTION: oneOf(['open', 'credential'])
      .prefault(production ? 'credential' : 'open')
      .describe(
        'Who may read the GraphQL schema and `/openapi.json`: open (everyone) or credential (requests with a valid one).',
      ),
    KEYFRONT_TRUSTED_DOCUMENTS: file
      .optional()
      .describe('JSON file of GraphQL documents that requests can name by their id. Default: none.'),
    KEYFRONT_ONLY_TRUSTED_DOCUMENTS: onOff
      .prefault('off')
      .describe('on or off. Whether every other GraphQL document is rejected.'),
    KEYFRONT_GRAPHQL_MAX_DEPTH: integer(1, 100)
      .prefault('10')
      .describe('Maximum depth of the fields of a GraphQL operation, from 1 to 100.'),
    KEYFRONT_GRAPHQL_MAX_ALIASES: integer(0, 1000)
      .prefault('15')
      .describe(
        'Maximum number of aliases in it, from 0 to 1000. Aliases of `_entities`, by which routers merge requests, do not count.',
      ),
    KEYFRONT_GRAPHQL_MAX_DIRECTIVES: integer(0, 1000)
      .prefault('5')
      .describe('Maximum number of directives in it, from 0 to 1000.'),
    KEYFRONT_GRAPHQL_MAX_MUTATIONS: integer(1, 100)
      .prefault('5')
      .describe('Maximum number of mutations in it, from 1 to 100.'),
    KEYFRONT_GRAPHQL_MAX_COST: integer(1, 1_000_000)
      .prefault('50000')
      .describe('Maximum cost of it, from 1 to 1000000: 1 per field, multiplied by the sizes of the pages around it.'),
    KEYFRONT_GRAPHQL_ROUTER_FACTOR: integer(1, 100)
      .prefault('10')
      .describe(
        'How many operations a router may merge into one, from 1 to 100: the factor of the limits above (not of the depth) and of characters and tokens, for service credentials with the scope `router`.',
      ),
    KEYFRONT_MAX_SUBSCRIPTIONS: integer(1, 1000)
      .prefault('100')
      .describe('Maximum number of open subscriptions of one credential in each process, from 1 to 1000.'),
    KEYFRONT_OIDC_ISSUER: matching((text) => isTrustworthy(text, false), `${trustedURLError}, without a query.`)
      .optional()
      .describe(
        'Issuer of single sign-on: its tokens (JWT) are accepted as credentials. https, or http on loopback. Tokens of other issuers are not accepted.',
      ),
    KEYFRONT_OIDC_AUDIENCE: nonEmpty('must not be empty.')
      .optional()
      .describe('Audience that its tokens must contain.'),
    KEYFRONT_OIDC_JWKS_URL: matching((text) => isTrustworthy(text, true), `${trustedURLError}.`)
      .optional()
      .describe('URL of its keys. Default: the one in its /.well-known/openid-configuration.'),
    KEYFRONT_OIDC_MAPPING: mapping
      .optional()
      .describe(
        'What the claims of its tokens permit, as JSON: the rules of docs/single-sign-on.md. Default: each token may preview, and nothing else.',
      ),
    KEYFRONT_OIDC_CLIENT_ID: nonEmpty('must not be empty.')
      .optional()
      .describe(
        'Public client by which people sign on in the console and in GraphiQL. It returns them to /sign-on of the service. Default: none, and tokens can only be pasted.',
      ),
    KEYFRONT_OIDC_SIGN_ON_PARAMETERS: signOnParameters
      .optional()
      .describe(
        'Further parameters of that sign-on, as a query string: scope (default: openid profile), audience, resource. For example scope=openid%20profile&audience=https://keyfront.example.com.',
      ),
    KEYFRONT_WEBHOOKS_TO: oneOf(addressKinds)
      .prefault(production ? 'public' : 'loopback')
      .describe(
        'Permitted targets of webhooks: public (https only), loopback (also this machine, over http too) or private (also private networks, over http too).',
      ),
    KEYFRONT_METRICS_PORT: port
      .optional()
      .describe(
        'Port at which Prometheus reads /metrics, without a credential and on a separate listener. Default: none, and nothing is measured.',
      ),
    KEYFRONT_METRICS_HOST: nonEmpty('must not be empty: give an address.')
      .prefault('127.0.0.1')
      .describe('Address of that port; beyond loopback in production only.'),
    KEYFRONT_CLIENT_NAMES: clientNames
      .optional()
      .describe(
        'Names of clients that the metrics count separately, at most 50, such as dashboard,router. Default: none; all count as other.',
      ),
    KEYFRONT_URL: z
      .string()
      .optional()
      .describe(
        'For the command line: the service that the commands `keys get`, `keys put` and similar ones use. Commands that need the data folder, such as `serve`, reject it. Default: none; they use the data folder.',
      ),
    KEYFRONT_SERVICE_CREDENTIAL: z
      .string()
      .optional()
      .describe('For the command line: the credential that it sends to that service.'),
    KEYFRONT_MANAGEMENT_CREDENTIAL: z
      .string()
      .optional()
      .describe('For the command line: the credential of `keyfront keys preview --url`.'),
  });

/** Returns the meaning and the default of every setting, for `--help` and docs/configuration.md. */
export function describeSettings(): Record<string, string> {
  const development: Readonly<Record<string, z.ZodType>> = settingsFor(false).shape;
  return Object.fromEntries(
    Object.entries<z.ZodType>(settingsFor(true).shape).map(([name, schema]) => [
      name,
      [schema.description, ...describeDefault(defaultOf(development[name]), defaultOf(schema))].join(' '),
    ]),
  );
}

function defaultOf(schema: z.ZodType | undefined): string | undefined {
  return schema instanceof z.ZodPrefault ? String(schema.def.defaultValue) : undefined;
}

function describeDefault(development: string | undefined, production: string | undefined): string[] {
  if (development === undefined || production === undefined) return [];
  if (development === production) return [`Default: ${production}.`];
  return [`Default: ${development} in development, ${production} in production.`];
}

function isPostgresURL(text: string): boolean {
  return (
    /^postgres(ql)?:\/\//.test(text) &&
    urlsOfHosts(text).every((url) => URL.canParse(url) && new URL(url).pathname.length > 1)
  );
}

function isRedisURL(text: string): boolean {
  if (sentinelsOf(text)) return true;
  return /^rediss?:\/\/[^/]/.test(text) && URL.canParse(text) && /^(\/\d*)?$/.test(new URL(text).pathname);
}

/** Whether the text can name counters: it has `{keyHash}` once and no other braces, which Redis would interpret. */
function isNamePattern(pattern: string): boolean {
  const [before, after, ...more] = pattern.split('{keyHash}');
  return after !== undefined && more.length === 0 && /^[!-z|~]{0,200}$/.test(`${before}${after}`);
}

/** Whether the text is exactly an origin: no path, no final slash, no capital, no default port. */
function isOrigin(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
