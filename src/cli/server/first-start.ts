import type { Config } from '../../config/config.js';
import { issueCredential } from '../../credentials/issue.js';
import type { Services } from '../../storage/open-storage.js';
import { importLines } from '../input/import-lines.js';
import type { IO } from '../io.js';
import { sampleKeyLines } from './sample.js';
import { formatWelcome } from './welcome.js';

/** Issues the first credentials and imports the sample keys if needed. Returns the text for standard output. */
export type Greeter = (services: Services, url: string) => Promise<string>;

/** Creates the greeter of a start. It runs once the server listens: a start that fails would lose the first credentials. */
export function createGreeter(io: IO, { graphiql }: Config, importsSample: boolean): Greeter {
  return async (services, url) => {
    const firstCredentials = (await services.isNew()) ? await issueFirstCredentials(services) : undefined;
    if (importsSample) await importSample(services, io);
    return firstCredentials
      ? formatWelcome({ url, ...firstCredentials, hasPages: graphiql })
      : `Keyfront listens on ${url}\n`;
  };
}

interface FirstCredentials {
  readonly management: string;
  readonly service: string;
}

async function issueFirstCredentials({ credentials, now }: Services): Promise<FirstCredentials> {
  const issue = async (kind: 'management' | 'service') =>
    (await issueCredential(credentials, { kind, label: 'first start' }, now())).secret;
  return { management: await issue('management'), service: await issue('service') };
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
