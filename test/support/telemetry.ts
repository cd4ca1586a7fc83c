import * as api from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { metricLabels } from '../../src/cli/serve/telemetry.js';
import { createMetrics } from '../../src/telemetry/metrics.js';
import { createTracer } from '../../src/telemetry/tracing.js';

import type { Meter, Tracer } from '../../src/telemetry/ports.js';

export interface TestSpan {
  readonly name: string;
  readonly kind: string;
  readonly traceID: string;
  readonly spanID: string;
  readonly parentID: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  readonly ms: number;
}

export interface TestTelemetry {
  readonly meter: Meter;
  readonly tracer: Tracer;
  /** Returns the response of `/metrics`. */
  readonly exposition: () => Promise<string>;
  /** Returns the values of a metric, by the labels of the series in the order of the exposition: `face="rest",…`. */
  readonly series: (name: string) => Promise<Readonly<Record<string, number>>>;
  /** Returns the value of a metric without labels. */
  readonly valueOf: (name: string) => Promise<number | undefined>;
  /** Returns all spans that have ended, in order. */
  readonly spans: () => readonly TestSpan[];
  /** Returns all exported data of the spans, as text. */
  readonly sent: () => string;
}

/** Creates the metrics and traces of a service, with traces in memory. Only one may exist: OpenTelemetry is global. */
export function createTestTelemetry(): TestTelemetry {
  const { meter, registry } = createMetrics({ ...metricLabels(), clients: ['dashboard', 'router'] });
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  provider.register();
  const series: TestTelemetry['series'] = async (name) => {
    const text = await registry.metrics();
    const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
    return Object.fromEntries(
      lines.map((line) => {
        const [, labels = '', value = ''] = /^[a-z_0-9]+(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
        return [labels, Number(value)];
      }),
    );
  };
  return {
    meter,
    tracer: createTracer(api, provider.getTracer('test')),
    exposition: () => registry.metrics(),
    series,
    valueOf: async (name) => (await series(name))[''],
    spans: () =>
      exporter.getFinishedSpans().map((span) => ({
        name: span.name,
        kind: api.SpanKind[span.kind],
        traceID: span.spanContext().traceId,
        spanID: span.spanContext().spanId,
        parentID: span.parentSpanContext?.spanId,
        attributes: span.attributes,
        isError: span.status.code === api.SpanStatusCode.ERROR,
        ms: span.duration[0] * 1000 + span.duration[1] / 1e6,
      })),
    // The default service.name contains the path of Node, and so the names of its parent folders.
    sent: () =>
      JSON.stringify(
        exporter
          .getFinishedSpans()
          .map(({ name, attributes, events, status, links, resource }) => [
            name,
            attributes,
            events,
            status,
            links,
            resource.attributes,
          ]),
      ).replaceAll(process.argv0, 'node'),
  };
}
