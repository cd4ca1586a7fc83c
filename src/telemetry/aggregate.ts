import { AggregatorRegistry, type Registry } from 'prom-client';

/** The metrics of one process as JSON, to send between processes. */
export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** Aggregates the metrics of several processes by their `aggregator`, in the format of Prometheus. */
export async function expositionOf(
  snapshots: readonly MetricsSnapshot[],
): Promise<{ contentType: string; text: string }> {
  const registry = aggregated(snapshots);
  return { contentType: registry.contentType, text: await registry.metrics() };
}

/** Aggregates counters and histograms of several processes. Omits gauges, because they describe a live process. */
export async function countersOf(snapshots: readonly MetricsSnapshot[]): Promise<MetricsSnapshot> {
  const metrics = await aggregated(snapshots).getMetricsAsJSON();
  // The declared type is an enum of numbers; prom-client writes the name.
  return metrics.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
}

function aggregated(snapshots: readonly MetricsSnapshot[]): Registry {
  return AggregatorRegistry.aggregate(snapshots.map((snapshot) => snapshot.map(withLargestLag)));
}

/** prom-client averages event loop lags, which hides one blocked worker. */
function withLargestLag(metric: MetricsSnapshot[number]): MetricsSnapshot[number] {
  const isAveraged = metric.name.startsWith('nodejs_eventloop_lag_') && metric.aggregator === 'average';
  return isAveraged ? { ...metric, aggregator: 'max' } : metric;
}
