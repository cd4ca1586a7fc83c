import type * as OpenTelemetry from '@opentelemetry/api';
import { errorCodeOf } from '../lib/errors.js';
import type { Logger } from '../lib/log.js';
import { withTimeout } from '../lib/timeout.js';
import type { SpanAttributes, Tracer } from './ports.js';

type API = Omit<typeof OpenTelemetry, 'default'>;
type TracingEnvironment = Readonly<Record<string, string | undefined>>;

/** Running traces of one process. */
export interface Traces {
  readonly tracer: Tracer;
  /** Sends the remaining spans, with a timeout of one second. Never throws. */
  readonly stop: () => Promise<void>;
}

const flushTimeoutMs = 1_000;
const warnIntervalMs = 60_000;

/** Whether the standard variables of OpenTelemetry enable traces. */
export function isTracingEnabled(env: TracingEnvironment): boolean {
  if (env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true') return false;
  const exporters = env['OTEL_TRACES_EXPORTER']?.trim() ?? '';
  if (exporters !== '') return exporters !== 'none';
  return ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'].some((name) => env[name]?.trim());
}

/**
 * Starts tracing: spans in batches over OTLP/HTTP (protobuf), W3C trace context. The SDK reads its own variables
 * (sampler, batches, headers, endpoints, resource attributes).
 */
export async function startTraces(env: TracingEnvironment, version: string, log: Logger): Promise<Traces> {
  const { api, sdk, resources, OTLPTraceExporter } = await import('./open-telemetry.js');
  api.diag.setLogger(createDiagLogger(log), { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true });
  for (const { name, supported } of unsupportedSettings(env))
    log.warn({ name, supported }, 'OpenTelemetry setting ignored');
  const isConsole = env['OTEL_TRACES_EXPORTER']?.trim() === 'console';
  const provider = new sdk.NodeTracerProvider({
    // Other detectors would export the machine, its user and the command line.
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes({ 'service.name': 'keyfront', 'service.version': version }))
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [
      isConsole
        ? new sdk.SimpleSpanProcessor(new sdk.ConsoleSpanExporter())
        : new sdk.BatchSpanProcessor(new OTLPTraceExporter()),
    ],
  });
  provider.register();
  return {
    tracer: createTracer(api, api.trace.getTracer('keyfront', version)),
    stop: async () => {
      const sent = provider.shutdown().catch(() => log.warn('the last traces could not be sent'));
      await withTimeout(flushTimeoutMs, sent, () => undefined);
    },
  };
}

/** The supported values of standard variables that allow more elsewhere. */
const supportedValues: Readonly<Record<string, readonly string[]>> = {
  OTEL_TRACES_EXPORTER: ['otlp', 'console', 'none'],
  OTEL_EXPORTER_OTLP_PROTOCOL: ['http/protobuf'],
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: ['http/protobuf'],
  OTEL_PROPAGATORS: ['tracecontext,baggage', 'tracecontext', 'baggage,tracecontext'],
};

/** Returns the standard variables whose value is not supported, such as gRPC, B3 or Zipkin. */
export function unsupportedSettings(env: TracingEnvironment): { name: string; supported: readonly string[] }[] {
  return Object.entries(supportedValues).flatMap(([name, supported]) => {
    const value = env[name]?.replaceAll(' ', '') ?? '';
    return value === '' || supported.includes(value) ? [] : [{ name, supported }];
  });
}

/** Logs warnings of the SDK without their text, which can quote a URL with a credential, and at a limited rate. */
function createDiagLogger(log: Logger) {
  let quietUntil = -Infinity;
  const warn = (message: string, ...rest: unknown[]) => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + warnIntervalMs;
    const [cause] = /\bE[A-Z]{4,}\b|\b[45]\d\d\b/.exec([message, ...rest].map(String).join(' ')) ?? [];
    log.warn({ cause }, 'traces cannot be sent, or OpenTelemetry has another error');
  };
  const ignore = () => undefined;
  return { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
}

/** Codes of errors of the service. All other codes are errors of clients. */
const serviceErrors: ReadonlySet<string> = new Set(['INTERNAL', 'UNAVAILABLE']);

/** Adapts the tracer of OpenTelemetry. */
export function createTracer(api: API, tracer: OpenTelemetry.Tracer): Tracer {
  const { context, trace, propagation, SpanKind, SpanStatusCode } = api;
  const begin = (name: string, kind: number, parent: OpenTelemetry.Context, attributes: SpanAttributes) => {
    const span = tracer.startSpan(name, { kind, attributes: attributesOf(attributes) }, parent);
    return { span, childContext: trace.setSpan(parent, span) };
  };
  const fail = (span: OpenTelemetry.Span, code: string) => {
    span.setAttribute('error.type', code);
    if (serviceErrors.has(code)) span.setStatus({ code: SpanStatusCode.ERROR });
  };
  const fromHeaders = {
    get: (header: (name: string) => string | null, name: string) => header(name.toLowerCase()) ?? undefined,
    keys: () => [],
  };

  return {
    request(method, header, work) {
      const parent = propagation.extract(api.ROOT_CONTEXT, header, fromHeaders);
      const name = method === '_OTHER' ? 'HTTP' : method;
      const { span, childContext } = begin(name, SpanKind.SERVER, parent, { 'http.request.method': method });
      return context.with(childContext, () =>
        work(({ requestID, route, operation, verdict, status }) => {
          span.updateName(`${name} ${route}`);
          span.setAttributes({
            'http.route': route,
            'http.response.status_code': status,
            'keyfront.operation': operation,
            'keyfront.verdict': verdict,
            'keyfront.request_id': requestID,
          });
          if (verdict !== 'ok') fail(span, verdict);
          span.end();
        }),
      );
    },
    async withSpan(name, attributes, work) {
      const { span, childContext } = begin(name, SpanKind.INTERNAL, context.active(), attributes);
      try {
        return await context.with(childContext, () => work((later) => void span.setAttributes(attributesOf(later))));
      } catch (error) {
        fail(span, errorCodeOf(error));
        throw error;
      } finally {
        span.end();
      }
    },
    ids: () => {
      const found = trace.getSpanContext(context.active());
      return found ? { trace_id: found.traceId, span_id: found.spanId } : {};
    },
  };
}

function attributesOf(attributes: SpanAttributes): Record<string, string | number | string[]> {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, typeof value === 'object' ? [...value] : value]),
  );
}
