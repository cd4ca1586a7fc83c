import { AggregatorRegistry, type Registry } from 'prom-client';

/** The metrics of one process, in a form that passes between processes as JSON. */
export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** Adds up the metrics of several processes, each as its `aggregator` says, and writes them for Prometheus. */
export async function expositionOf(
  snapshots: readonly MetricsSnapshot[],
): Promise<{ contentType: string; text: string }> {
  const registry = aggregated(snapshots);
  return { contentType: registry.contentType, text: await registry.metrics() };
}

/** The counters and histograms of processes, added up. Gauges describe a process as it is now and are left out. */
export async function countersOf(snapshots: readonly MetricsSnapshot[]): Promise<MetricsSnapshot> {
  const metrics = await aggregated(snapshots).getMetricsAsJSON();
  // The declared type is an enum of numbers; prom-client writes the name.
  return metrics.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
}

function aggregated(snapshots: readonly MetricsSnapshot[]): Registry {
  return AggregatorRegistry.aggregate(snapshots.map((snapshot) => snapshot.map(withLargestLag)));
}

/** prom-client takes the average of most lags, which hides the one worker whose event loop is blocked. */
function withLargestLag(metric: MetricsSnapshot[number]): MetricsSnapshot[number] {
  const isAveraged = metric.name.startsWith('nodejs_eventloop_lag_') && metric.aggregator === 'average';
  return isAveraged ? { ...metric, aggregator: 'max' } : metric;
}
