import { createApp } from '../../app.js';
import { readConfig, type Config, type ConfigSecrets } from '../../config/config.js';
import { listen } from '../../http/server/server.js';
import { createLogger, type Logger } from '../../lib/log.js';
import type { OpenOptions } from '../../storage/open-storage.js';
import { rejectServiceURL } from '../client/open.js';
import type { OptionValues } from '../command.js';
import { UsageError, type IO } from '../io.js';
import { completeStart } from './first-start.js';
import { serveCluster } from './serve-cluster.js';
import { warnAboutSetup, logStart, trackUncaughtExceptions } from './start.js';
import { startTelemetry, type RunningTelemetry } from './telemetry.js';

/** Serves until a signal arrives or storage fails, then completes the requests in progress and closes storage. */
export async function serve(io: IO, options: OptionValues): Promise<number> {
  const workerCount = parseWorkerCount(options['workers']);
  const openOptions = { allowMigrated: options['allow-migrated'] === true, allowNew: options['allow-new'] === true };
  rejectServiceURL(io);
  const { config, secrets } = readConfig(io.env);
  if (config.production) rejectMemoryDumps(io.nodeOptions ?? []);
  const importsSample = options['sample'] === true;
  if (workerCount > 1) return serveCluster(io, { config, secrets, workerCount, importsSample, openOptions });
  const plainLog = createLogger(config.logLevel);
  const running = await startTelemetry(config, io, plainLog);
  try {
    const traceIDs = running.telemetry.tracer?.ids;
    const log = traceIDs ? createLogger(config.logLevel, undefined, traceIDs) : plainLog;
    return await serveProcess(io, { config, secrets, running, log, importsSample, openOptions });
  } finally {
    await running.stop();
  }
}

interface ServeProcessDeps {
  readonly config: Config;
  readonly secrets: ConfigSecrets;
  readonly log: Logger;
  readonly running: RunningTelemetry;
  readonly importsSample: boolean;
  readonly openOptions: Pick<OpenOptions, 'allowMigrated' | 'allowNew'>;
}

async function serveProcess(io: IO, deps: ServeProcessDeps): Promise<number> {
  const { config, secrets, log, running, importsSample, openOptions } = deps;
  const { telemetry } = running;
  const exceptions = trackUncaughtExceptions(io, log);
  const app = await createApp(config, secrets, log, { openOptions }, telemetry);
  let storageError: Error | undefined;
  try {
    // Before the credentials are issued: if the port is not available, the start fails without printing them.
    const {
      webSockets,
      services: { scheduler },
    } = app;
    const server = await listen(app.handle, { ...config, log, scheduler, telemetry, webSockets });
    warnAboutSetup(config, io, log);
    try {
      await running.listen();
      logStart(log, { config, secrets, url: server.url, workers: 1 });
      const welcome = await completeStart(io, app.services, { config, importsSample, url: server.url });
      // Registered before the address is printed: a reader of the address may send the signal at once.
      const stopped = new Promise<undefined>((resolve) => io.onStop(() => resolve(undefined)));
      io.stdout(welcome);
      storageError = await Promise.race([stopped, exceptions.first.then(() => undefined), app.services.failed]);
      app.drain();
      if (!storageError) log.info('stopping');
      else
        log.fatal({ err: storageError }, 'storage failed; stopping, because the state of the last commit is unknown');
    } finally {
      await server.stop();
    }
    return storageError || exceptions.count() > 0 ? 1 : 0;
  } finally {
    await app.close();
  }
}

const maxWorkers = 64;
const memoryDumpOption = /^--(inspect|heapsnapshot|heap-prof|report-)/;

/** Rejects the options of Node that expose memory, which contains plaintext secrets, to a debugger or in a file. */
function rejectMemoryDumps(nodeOptions: readonly string[]): void {
  const [option] = nodeOptions.filter((text) => memoryDumpOption.test(text));
  if (option === undefined) return;
  throw new Error(`In production, Node must not run with ${option.split('=', 1)[0]}, which exposes its memory.`);
}

function parseWorkerCount(value: string | boolean | undefined): number {
  if (value === undefined) return 1;
  if (typeof value === 'string' && /^[1-9]\d?$/.test(value) && Number(value) <= maxWorkers) return Number(value);
  throw new UsageError(`--workers must be a whole number from 1 to ${maxWorkers}.`);
}
