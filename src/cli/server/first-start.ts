import { issueCredential } from '../../credentials/issue.js';
import type { Config } from '../../config/config.js';
import type { Services } from '../../storage/open-storage.js';
import { importLines } from '../commands/import.js';
import type { IO } from '../io.js';
import { sampleKeyLines } from './sample.js';
import { formatWelcome } from './welcome.js';

/** Issues the first credentials and imports the sample keys if needed. Returns the text for the terminal. */
export type Greeter = (installation: Services, url: string) => Promise<string>;

/** Returns what a start runs once it listens: before that, the first credentials could be lost with a failed start. */
export function createGreeter(io: IO, { graphiql }: Config, isSample: boolean): Greeter {
  return async (installation, url) => {
    const first = (await installation.isNew()) ? await issueFirst(installation) : undefined;
    if (isSample) await importSample(installation, io);
    return first ? formatWelcome({ url, ...first, hasPages: graphiql }) : `Keyfront listens on ${url}\n`;
  };
}

interface FirstCredentials {
  readonly management: string;
  readonly service: string;
}

async function issueFirst({ credentials, now }: Services): Promise<FirstCredentials> {
  const issued = async (kind: 'management' | 'service') =>
    (await issueCredential(credentials, { kind, label: 'first start' }, now())).secret;
  return { management: await issued('management'), service: await issued('service') };
}

async function importSample(installation: Services, io: IO): Promise<void> {
  const counts = await importLines(
    installation,
    sampleKeyLines,
    { orgID: undefined, passwordsAreHashed: false },
    { onBadLine: (line, reason) => io.stderr(`sample line ${line}: ${reason}\n`), onProgress: () => undefined },
  );
  io.stdout(`Sample keys: ${counts.imported} imported, ${counts.present} already there. Try acme-billing.\n`);
}
