import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../../config/config.js';
import { issueCredential } from '../../credentials/issue.js';
import type { Services } from '../../storage/open-storage.js';
import { importLines } from '../input/import-lines.js';
import type { IO } from '../io.js';
import { sampleKeyLines } from './sample.js';
import { formatFileWelcome, formatLaterStart, formatWelcome } from './welcome.js';

/** Options of `completeStart`. */
export interface StartOptions {
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
export type FirstCredentials = { readonly management: string; readonly service: string } | { readonly file: string };

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
