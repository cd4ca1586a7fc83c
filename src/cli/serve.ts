import { createApp, type App } from '../app.js';
import { issueCredential } from '../auth/issue.js';
import { isLoopback, readConfig } from '../config.js';
import { listen } from '../http/server.js';
import { createLogger } from '../log.js';
import { importLines } from './import-keys.js';
import type { IO } from './io.js';
import type { Values } from './run.js';
import { sampleKeys } from './sample.js';

/** Serves until it is told to stop; then answers what is under way, closes the database and resolves. */
export async function serve(io: IO, { sample }: Values): Promise<number> {
  const { config, secrets } = readConfig(io.env);
  if (config.production) refuseOpenMemory(io.nodeOptions ?? []);
  const log = createLogger(config.logLevel);
  let faults = 0;
  const fault = new Promise<undefined>((resolve) =>
    io.onFault?.((thrown) => {
      faults += 1;
      log.fatal({ err: thrown instanceof Error ? thrown : new Error('A value that is no Error was thrown.') }, 'fault');
      resolve(undefined);
    }),
  );
  const app = createApp(config, secrets, log);
  let failure: Error | undefined;
  try {
    // Before the credentials are issued: those of a start that fails at its port would never be shown.
    const server = await listen(app.handle, { ...config, log });
    if (!config.tls && !isLoopback(config.host)) {
      log.warn('plain HTTP beyond this machine: a proxy must speak TLS, or set KEYFRONT_TLS_CERT and KEYFRONT_TLS_KEY');
    }
    try {
      const first = (await app.installation.isNew()) ? await issueFirst(app) : undefined;
      if (sample === true) await importSample(app, io);
      // Before anybody is told that we listen: who reads it may ask us to stop at once.
      const stopped = new Promise<undefined>((resolve) => io.onStop(() => resolve(undefined)));
      io.out(first ? welcome(server.url, first) : `Keyfront listens on ${server.url}\n`);
      failure = await Promise.race([stopped, fault, app.installation.failed]);
      app.drain();
      if (!failure) log.info('stopping');
      else log.fatal({ err: failure }, 'storage failed; stopping, for only a new start can tell what was written');
    } finally {
      await server.stop();
    }
    return failure || faults > 0 ? 1 : 0;
  } finally {
    await app.close();
  }
}

const openMemory = /^--(inspect|heapsnapshot|heap-prof|report-)/;

/** Memory holds secrets in clear. Throws for an option of Node that shows it to a debugger or writes it to a file. */
function refuseOpenMemory(nodeOptions: readonly string[]): void {
  const [option] = nodeOptions.filter((text) => openMemory.test(text));
  if (option === undefined) return;
  throw new Error(`In production, Node must not run with ${option.split('=', 1)[0]}, which gives memory away.`);
}

interface FirstCredentials {
  readonly management: string;
  readonly service: string;
}

async function issueFirst({ installation: { credentials, now } }: App): Promise<FirstCredentials> {
  const issued = async (kind: 'management' | 'service') =>
    (await issueCredential(credentials, { kind, label: 'first start' }, now())).secret;
  return { management: await issued('management'), service: await issued('service') };
}

async function importSample({ installation }: App, io: IO): Promise<void> {
  const counts = await importLines(
    installation,
    sampleKeys,
    { orgID: undefined, passwordsAreHashed: false },
    { onBadLine: (line, reason) => io.say(`sample line ${line}: ${reason}\n`), onProgress: () => undefined },
  );
  io.out(`Sample keys: ${counts.imported} imported, ${counts.present} already there. Try acme-billing.\n`);
}

function welcome(url: string, { management, service }: FirstCredentials): string {
  return `
Keyfront listens on ${url}

  Two credentials were issued. They are shown now and never again:

    management (previews)            ${management}
    service    (organisation keys)   ${service}

  GraphiQL:  ${url}/   Put the credentials under "Headers" and press the play button.
  REST API:  ${url}/docs   Put the credentials under "Authorize".

  The key API, previewing a definition:

    curl -s ${url}/api/keys/preview \\
      -H 'Authorization: Bearer ${management}' \\
      -H 'Content-Type: application/json' \\
      -d '{"alias":"Billing","org_id":"acme","rate":100,"per":60}'

  The same in GraphQL:

    curl -s ${url}/graphql \\
      -H 'Authorization: Bearer ${management}' \\
      -H 'Content-Type: application/json' \\
      -d '{"query":"{ previewKey(input: {alias: \\"Billing\\", orgID: \\"acme\\", rate: 100, per: 60}) { keyID keyHash } }"}'

`;
}
