import type { Config } from '../../config/config.js';
import { credentialKinds, rejectionReasons } from '../../credentials/credential.js';
import { servedSchema } from '../../graphql/schema/served.js';
import { listenForMetrics } from '../../http/server/metrics-server.js';
import type { Logger } from '../../lib/log.js';
import { version } from '../../lib/version.js';
import { authzOperation } from '../../rest/authz.js';
import { routes } from '../../rest/routes.js';
import type { MetricsSnapshot } from '../../telemetry/aggregate.js';
import type { Telemetry } from '../../telemetry/ports.js';
import { startTraces, isTracingEnabled, type Traces } from '../../telemetry/tracing.js';
import type { IO } from '../io.js';

/** The telemetry of a serving process. */
export interface RunningTelemetry {
  readonly telemetry: Telemetry;
  /** Starts the metrics endpoint, if it is configured. */
  readonly listen: () => Promise<void>;
  /** Reads the metrics of this process, for the primary; undefined if metrics are disabled. */
  readonly snapshot: (() => Promise<MetricsSnapshot>) | undefined;
  /** Stops the endpoint and exports the remaining traces. */
  readonly stop: () => Promise<void>;
}

/** Starts metrics and traces as configured. Their modules are loaded on demand, so that other starts stay fast. */
export async function startTelemetry(
  { metrics: address, clientNames: clients }: Config,
  { env }: IO,
  log: Logger,
): Promise<RunningTelemetry> {
  const traces: Traces | undefined = isTracingEnabled(env) ? await startTraces(env, version, log) : undefined;
  const metrics = address && (await import('../../telemetry/metrics.js')).createMetrics({ ...metricLabels(), clients });
  let stopListening: (() => Promise<void>) | undefined;
  return {
    telemetry: { meter: metrics?.meter, tracer: traces?.tracer },
    snapshot: metrics && (() => metrics.registry.getMetricsAsJSON()),
    listen: async () => {
      if (!address || !metrics) return;
      const { registry } = metrics;
      const read = async () => ({ contentType: registry.contentType, text: await registry.metrics() });
      const server = await listenForMetrics({ ...address, read });
      stopListening = () => server.stop();
      log.info({ url: server.url }, 'metrics');
    },
    stop: async () => {
      await stopListening?.();
      await traces?.stop();
    },
  };
}

/** All label values of the metrics: a fixed set, so that no client can add a time series. */
export function metricLabels() {
  const types = [servedSchema.getQueryType(), servedSchema.getMutationType(), servedSchema.getSubscriptionType()];
  const fields = types.flatMap((type) => Object.keys(type?.getFields() ?? {}));
  const operations = new Set([...fields, ...routes.map(({ operation }) => operation), authzOperation, 'several']);
  return { version, operations, credentialKinds, rejectionReasons };
}
