import { setTimeout as wait } from 'node:timers/promises';
import { requireWholeFile } from '../../storage/integrity-check.js';
import type { Config, ConfigSecrets } from '../../config/config.js';
import { dispatchConnections } from '../../http/server/connection-dispatcher.js';
import { listenForMetrics, type MetricsServer } from '../../http/server/metrics-server.js';
import { openServices, type OpenOptions } from '../../storage/open-storage.js';
import { createLogger } from '../../lib/log.js';
import { createClusterPrimary } from './cluster-primary.js';
import type { IO } from '../io.js';
import type { Greeter } from './first-start.js';
import { warnAboutSetup } from './setup-warnings.js';
import type { WorkerMetrics } from './worker-metrics.js';

interface Service {
  readonly config: Config;
  readonly secrets: ConfigSecrets;
  /** How many workers. */
  readonly count: number;
  readonly greet: Greeter;
  readonly opening: Pick<OpenOptions, 'allowMigrated' | 'allowNew'>;
}

/**
 * Serves as `serve` does, by several processes. This one makes the data folder ready, accepts connections and hands them
 * on, and says whose turn it is to write; the workers do everything else, each on its own connection to the database.
 */
export async function serveCluster(io: IO, { config, secrets, count, greet, opening }: Service): Promise<number> {
  const { startWorker } = io;
  if (!startWorker) throw new Error('Workers can be started by the program itself only.');
  const log = createLogger(config.logLevel).child({ pid: io.pid });
  const fault = new Promise<Error>((resolve) =>
    io.onUncaughtException?.((thrown) => {
      const error = thrown instanceof Error ? thrown : new Error('A value that is no Error was thrown.');
      log.fatal({ err: error }, 'fault');
      resolve(error);
    }),
  );
  const installation = await openServices(
    config,
    secrets,
    {},
    { ...opening, access: 'create', report: (line) => log.warn(line) },
  );
  if (secrets.databaseURL === undefined) await requireWholeFile(installation, config, log);
  try {
    const metrics = config.metrics && (await loadWorkerMetrics());
    const crew = await createClusterPrimary({
      count,
      startWorker,
      log,
      heartbeat: { timeoutMs: config.workerTimeoutMs, every },
      metrics,
    });
    let failure: Error | undefined;
    let areWell = false;
    try {
      const front = await dispatchConnections(config, crew.dispatch);
      warnAboutSetup(config, io, log);
      let metricsServer: MetricsServer | undefined;
      try {
        if (config.metrics && metrics) {
          metricsServer = await listenForMetrics({ ...config.metrics, read: metrics.read });
          log.info({ url: metricsServer.url }, 'metrics');
        }
        const welcome = await greet(installation, `${config.tls ? 'https' : 'http'}://${front.address}`);
        const stopped = new Promise<undefined>((resolve) => io.onStop(() => resolve(undefined)));
        io.stdout(welcome);
        failure = await Promise.race([stopped, fault, crew.failed]);
        if (failure) log.fatal({ err: failure }, 'the workers cannot go on; stopping');
        else log.info('stopping');
      } finally {
        await metricsServer?.stop();
        await front.stop();
      }
    } finally {
      areWell = await crew.stop();
    }
    return failure || !areWell ? 1 : 0;
  } finally {
    await installation.close();
  }
}

/** How long a worker may take to hand over its metrics. Prometheus waits ten seconds. */
const metricsTimeoutMs = 2_000;

/** Loads what collects metrics, which takes time that a start without metrics does not have. */
async function loadWorkerMetrics(): Promise<WorkerMetrics> {
  const { createProcessMetrics } = await import('../../telemetry/metrics.js');
  const { createWorkerMetrics } = await import('./worker-metrics.js');
  const registry = createProcessMetrics();
  return createWorkerMetrics({ own: () => registry.getMetricsAsJSON(), timeout: () => wait(metricsTimeoutMs) });
}

function every(intervalMs: number, callback: () => void): () => void {
  const timer = setInterval(callback, intervalMs);
  return () => clearInterval(timer);
}
