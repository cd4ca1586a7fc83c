import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../../config/config.js';
import { issueCredential } from '../../credentials/issue.js';
import type { Services } from '../../storage/open-storage.js';
import type { IO } from '../io.js';
import { importLines } from '../keys/import-lines.js';

/** Options of `completeStart`. */
interface StartOptions {
  readonly config: Config;
  /** Whether to import the sample keys. */
  readonly importsSample: boolean;
  /** The address of the service. */
  readonly url: string;
}

/**
 * Issues the credentials of a first start, and imports the sample keys if needed. Resolves to the text for standard
 * output. Call it when the server listens: a start that fails would lose the first credentials.
 */
export async function completeStart(
  io: IO,
  services: Services,
  { config, importsSample, url }: StartOptions,
): Promise<string> {
  const welcome = (await services.isNew()) ? await issueAndWelcome(services, config, url) : undefined;
  if (importsSample) await importSample(services, io);
  if (welcome !== undefined) return welcome;
  return config.production ? `Keyfront listens on ${url}\n` : formatLaterStart(servedAt(url, config));
}

function servedAt(url: string, config: Config) {
  return { url, hasPages: config.graphiql, hasConsole: config.console };
}

async function issueAndWelcome(services: Services, config: Config, url: string): Promise<string> {
  const served = servedAt(url, config);
  const first = await issueFirstCredentials(services, config);
  return 'file' in first ? formatFileWelcome(served, first.file) : formatWelcome({ ...served, ...first });
}

/** One credential of each kind, or the file that contains them. */
type FirstCredentials = { readonly management: string; readonly service: string } | { readonly file: string };

/**
 * Issues a credential of each kind. In production, writes them to a file, because log collectors often store standard
 * output.
 *
 * @throws {Error} if a file of an interrupted first start exists
 */
export async function issueFirstCredentials({ credentials, now }: Services, config: Config): Promise<FirstCredentials> {
  const issue = async (kind: 'management' | 'service') =>
    (await issueCredential(credentials, { kind, label: 'first start' }, now())).secret;
  const issueBoth = async () => ({ management: await issue('management'), service: await issue('service') });
  if (!config.production) return issueBoth();
  const file = credentialFileOf(config);
  writeFileSync(file, '', { flag: 'wx', mode: 0o600 });
  try {
    const { management, service } = await issueBoth();
    writeFileSync(file, `management ${management}\nservice ${service}\n`, { flush: true });
  } catch (error) {
    rmSync(file);
    throw error;
  }
  return { file };
}

/** The file of the first credentials: in the data folder, or beside the key ring if there is no data folder. */
function credentialFileOf({ databaseFile, keyRingFile }: Config): string {
  const [folder, other] = [dirname(databaseFile), dirname(keyRingFile)];
  const file = resolve(join(existsSync(folder) ? folder : other, 'first-credentials.txt'));
  if (existsSync(file)) throw new Error(`${file} is left of an interrupted first start. Delete it and start again.`);
  return file;
}

async function importSample(services: Services, io: IO): Promise<void> {
  const counts = await importLines(
    services,
    sampleKeyLines,
    { orgID: undefined, passwordsAreHashed: false },
    {
      onInvalidLine: (line, reason) => io.stderr(`sample line ${line}: ${reason}\n`),
      onProgress: () => undefined,
    },
  );
  io.stdout(
    `Sample keys: ${counts.imported} imported, ${counts.existing} skipped (already exist). Try acme-billing.\n`,
  );
}

/** Input for the text of the first start. */
interface WelcomeOptions {
  /** The address of the service, such as `http://0.0.0.0:4000`. */
  readonly url: string;
  readonly management: string;
  readonly service: string;
  /** Whether the service serves GraphiQL and the REST documentation. */
  readonly hasPages: boolean;
  readonly hasConsole: boolean;
}

/** Formats the text of the first start: the credentials, addresses and example requests. */
function formatWelcome({ url, management, service, ...pages }: WelcomeOptions): string {
  const baseURL = toReachableURL(url);
  return `
Keyfront listens on ${url}

  Save these two credentials now; they are not shown again:

    management (previews)            ${management}
    service    (organization keys)   ${service}

${formatPages(baseURL, pages)}

  Preview a definition with the REST key API:

    curl -s ${baseURL}/api/keys/preview \\
      -H 'Authorization: Bearer ${management}' \\
      -H 'Content-Type: application/json' \\
      -d '{"alias":"Billing","org_id":"acme","rate":100,"per":60}'

  Preview it with GraphQL:

    curl -s ${baseURL}/graphql \\
      -H 'Authorization: Bearer ${management}' \\
      -H 'Content-Type: application/json' \\
      -d '{"query":"{ previewKey(input: {alias: \\"Billing\\", orgID: \\"acme\\", rate: 100, per: 60}) { keyID keyHash } }"}'

`;
}

/** Formats the text of the first start in production, which contains no credential. */
function formatFileWelcome({ url, ...pages }: Omit<WelcomeOptions, 'management' | 'service'>, file: string): string {
  return `
Keyfront listens on ${url}

  The first credentials, one for each kind, are in ${file}
  Only the user of the service can read it. Save the credentials, and delete the file.

${formatPages(toReachableURL(url), pages)}

`;
}

/** Formats the text of a later start: the pages, and how to replace a lost credential. */
function formatLaterStart({ url, ...pages }: Omit<WelcomeOptions, 'management' | 'service'>): string {
  return `Keyfront listens on ${url}

${formatPages(toReachableURL(url), pages)}
  To replace a lost credential, run: npx keyfront credentials issue --kind service --label NAME

`;
}

function formatPages(
  baseURL: string,
  { hasPages, hasConsole }: Pick<WelcomeOptions, 'hasPages' | 'hasConsole'>,
): string {
  const pages = hasPages
    ? `  GraphiQL:  ${baseURL}/   Paste the credentials at the top and press the play button.
  REST API:  ${baseURL}/docs   Paste the credentials under "Authorize".`
    : `  OpenAPI:   ${baseURL}/openapi.json
  GraphiQL and the REST documentation are disabled; KEYFRONT_GRAPHIQL=on enables them.`;
  return hasConsole ? `  Console:   ${baseURL}/console   Sign in with the service credential.\n${pages}` : pages;
}

/** Replaces the unspecified address (0.0.0.0, ::), which clients cannot open, by the loopback address. */
function toReachableURL(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

/** Sample keys of `serve --sample`, as lines of JSON for the import. */
export const sampleKeyLines = [
  {
    key_id: 'acme-billing',
    org_id: 'acme',
    alias: 'Billing, production',
    rate: 100,
    per: 60,
    quota_max: 10_000,
    quota_remaining: 1_880,
    quota_renewal_rate: 2_592_000,
    tags: ['billing', 'production'],
    apply_policies: ['gold'],
    access_rights: {
      invoices: {
        api_id: 'invoices',
        api_name: 'Invoices',
        versions: ['Default'],
        allowed_urls: [{ methods: ['GET', 'POST'], url: '/invoices/.*' }],
      },
    },
  },
  {
    key_id: 'acme-mobile',
    org_id: 'acme',
    alias: 'Mobile application',
    rate: 20,
    per: 1,
    quota_max: -1,
    tags: ['mobile'],
    access_rights: { catalog: { api_id: 'catalog', api_name: 'Catalog', versions: ['Default'] } },
  },
  {
    key_id: 'globex-reports',
    org_id: 'globex',
    alias: 'Nightly reports',
    rate: 5,
    per: 1,
    quota_max: 500,
    quota_renewal_rate: 86_400,
    expires: 1_893_456_000,
    access_rights: { reports: { api_id: 'reports', api_name: 'Reports', versions: ['v2'] } },
  },
].map((key) => JSON.stringify(key));
