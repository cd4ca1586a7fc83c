/** The parts of OpenTelemetry that tracing uses. Imported on demand, because they load more slowly than the service. */
export * as api from '@opentelemetry/api';
export { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
export * as resources from '@opentelemetry/resources';
export * as sdk from '@opentelemetry/sdk-trace-node';
