import { createApp } from '../../app.js';
import { readConfig, type Config, type ConfigSecrets } from '../../config/config.js';
import { listen } from '../../http/server/server.js';
import type { OpenOptions } from '../../storage/open-storage.js';
import { createLogger, type Logger } from '../../lib/log.js';
import type { OptionValues } from '../command.js';
import { UsageError, type IO } from '../io.js';
import { createGreeter, type Greeter } from './first-start.js';
import { serveCluster } from './serve-cluster.js';
import { warnAboutSetup } from './setup-warnings.js';
import { startTelemetry, type RunningTelemetry } from './telemetry.js';

/** Serves until it is told to stop; then answers what is under way, closes the database and resolves. */
export async function serve(io: IO, values: OptionValues): Promise<number> {
  const count = readWorkers(values['workers']);
  const opening = { allowMigrated: values['allow-migrated'] === true, allowNew: values['allow-new'] === true };
  const { config, secrets } = readConfig(io.env);
  if (config.production) refuseOpenMemory(io.nodeOptions ?? []);
  const greet = createGreeter(io, config, values['sample'] === true);
  if (count > 1) return serveCluster(io, { config, secrets, count, greet, opening });
  const plain = createLogger(config.logLevel);
  const watching = await startTelemetry(config, io, plain);
  try {
    const ids = watching.telemetry.tracer?.ids;
    const log = ids ? createLogger(config.logLevel, undefined, ids) : plain;
    return await serveWatched(io, { config, secrets, watching, log, greet, opening });
  } finally {
    await watching.stop();
  }
}

interface Setting {
  readonly config: Config;
  readonly secrets: ConfigSecrets;
  readonly log: Logger;
  readonly watching: RunningTelemetry;
  readonly greet: Greeter;
  readonly opening: Pick<OpenOptions, 'allowMigrated' | 'allowNew'>;
}

async function serveWatched(io: IO, setting: Setting): Promise<number> {
  const { config, secrets, log, watching, greet, opening } = setting;
  const { telemetry: watch } = watching;
  let faults = 0;
  const fault = new Promise<undefined>((resolve) =>
    io.onUncaughtException?.((thrown) => {
      faults += 1;
      log.fatal({ err: thrown instanceof Error ? thrown : new Error('A value that is no Error was thrown.') }, 'fault');
      resolve(undefined);
    }),
  );
  const app = await createApp(config, secrets, log, { openOptions: opening }, watch);
  let failure: Error | undefined;
  try {
    // Before the credentials are issued: those of a start that fails at its port would never be shown.
    const server = await listen(app.handle, { ...config, log, telemetry: watch });
    warnAboutSetup(config, io, log);
    try {
      await watching.listen();
      const welcome = await greet(app.services, server.url);
      // Before anybody is told that we listen: who reads it may ask us to stop at once.
      const stopped = new Promise<undefined>((resolve) => io.onStop(() => resolve(undefined)));
      io.stdout(welcome);
      failure = await Promise.race([stopped, fault, app.services.failed]);
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

const mostWorkers = 64;
const openMemory = /^--(inspect|heapsnapshot|heap-prof|report-)/;

/** Memory holds secrets in clear. Throws for an option of Node that shows it to a debugger or writes it to a file. */
function refuseOpenMemory(nodeOptions: readonly string[]): void {
  const [option] = nodeOptions.filter((text) => openMemory.test(text));
  if (option === undefined) return;
  throw new Error(`In production, Node must not run with ${option.split('=', 1)[0]}, which gives memory away.`);
}

/** In words where it is no number of processes. */
function readWorkers(given: string | boolean | undefined): number {
  if (given === undefined) return 1;
  if (typeof given === 'string' && /^[1-9]\d?$/.test(given) && Number(given) <= mostWorkers) return Number(given);
  throw new UsageError(`--workers must be a number of processes, from 1 to ${mostWorkers}.`);
}
