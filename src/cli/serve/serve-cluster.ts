import { setTimeout as wait } from 'node:timers/promises';
import type { Config, ConfigSecrets } from '../../config/config.js';
import { dispatchConnections } from '../../http/server/connection-dispatcher.js';
import { listenForMetrics, type MetricsServer } from '../../http/server/metrics-server.js';
import { createLogger } from '../../lib/log.js';
import { openServices, requireWholeFile, type OpenOptions } from '../../storage/open-storage.js';
import type { IO } from '../io.js';
import { createClusterPrimary } from './cluster-primary.js';
import { allowMigratedArgument } from './cluster-worker.js';
import { completeStart } from './first-start.js';
import { warnAboutSetup, logStart, trackUncaughtExceptions } from './start.js';
import type { WorkerMetrics } from './worker-metrics.js';

/** Dependencies of `serveCluster`. */
interface ServeClusterDeps {
  readonly config: Config;
  readonly secrets: ConfigSecrets;
  readonly workerCount: number;
  readonly importsSample: boolean;
  readonly openOptions: Pick<OpenOptions, 'allowMigrated' | 'allowNew'>;
}

/**
 * Serves with several processes. The primary prepares storage, accepts connections, sends them to the workers and
 * grants the write lock; each worker serves requests with its own database connection.
 */
export async function serveCluster(
  io: IO,
  { config, secrets, workerCount, importsSample, openOptions }: ServeClusterDeps,
): Promise<number> {
  const { startWorker } = io;
  if (!startWorker) throw new Error('Only the main process can start workers.');
  const workerArgs = openOptions.allowMigrated === true ? [allowMigratedArgument] : [];
  const log = createLogger(config.logLevel).child({ pid: io.pid });
  const exceptions = trackUncaughtExceptions(io, log);
  const report = (line: string) => log.warn(line);
  const services = await openServices(config, secrets, {}, { ...openOptions, access: 'create', report });
  if (secrets.databaseURL === undefined) await requireWholeFile(services, config, log);
  try {
    const metrics = config.metrics && (await loadWorkerMetrics());
    const primary = await createClusterPrimary({
      count: workerCount,
      startWorker: () => startWorker(workerArgs),
      log,
      heartbeat: { timeoutMs: config.workerTimeoutMs, every },
      metrics,
    });
    let failure: Error | undefined;
    let haveAllSucceeded = false;
    try {
      const dispatcher = await dispatchConnections(config, primary.dispatch);
      warnAboutSetup(config, io, log);
      let metricsServer: MetricsServer | undefined;
      try {
        if (config.metrics && metrics) {
          metricsServer = await listenForMetrics({ ...config.metrics, read: metrics.read });
          log.info({ url: metricsServer.url }, 'metrics');
        }
        const url = `${config.tls ? 'https' : 'http'}://${dispatcher.address}`;
        logStart(log, { config, secrets, url, workers: workerCount });
        const welcome = await completeStart(io, services, { config, importsSample, url });
        const stopped = new Promise<undefined>((resolve) => io.onStop(() => resolve(undefined)));
        io.stdout(welcome);
        failure = await Promise.race([stopped, exceptions.first, primary.failed]);
        if (failure) log.fatal({ err: failure }, 'the workers cannot continue; stopping');
        else log.info('stopping');
      } finally {
        await metricsServer?.stop();
        await dispatcher.stop();
      }
    } finally {
      haveAllSucceeded = await primary.stop();
    }
    return failure || !haveAllSucceeded ? 1 : 0;
  } finally {
    await services.close();
  }
}

/** Timeout for the metrics of a worker, less than the scrape timeout of Prometheus, which is ten seconds. */
const metricsTimeoutMs = 2_000;

/** Loads the metrics modules on demand: a start without metrics stays faster. */
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
