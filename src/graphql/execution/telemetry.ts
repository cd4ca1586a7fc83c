import type { ExecutionResult, GraphQLError } from 'graphql';
import { toErrorCode, type ErrorCode } from '../../lib/errors.js';
import type { RequestRecord, Telemetry } from '../../telemetry/ports.js';
import type { PreparedOperation } from './operation-cache.js';

/** Records the operations and errors of requests, and traces executions. */
export interface OperationTelemetry {
  /** Executes an operation, within a span when requests are traced. */
  readonly traceExecution: <T>(prepared: PreparedOperation, execute: () => T | Promise<T>) => T | Promise<T>;
  /** Records which operation a request executes, and the fields that a valid credential may use. */
  readonly recordOperation: (prepared: PreparedOperation, record: RequestRecord) => void;
  /** Records the errors of a result, after they were masked. */
  readonly recordResult: (result: ExecutionResult, record: RequestRecord) => void;
}

/** Creates the telemetry of operations. */
export function createOperationTelemetry({ meter, tracer }: Telemetry): OperationTelemetry {
  return {
    traceExecution: ({ operation: { operation }, fields }, execute) => {
      if (!tracer) return execute();
      const attributes = { 'graphql.operation.type': operation, 'keyfront.graphql.fields': fields };
      return tracer.withSpan(`GraphQL ${operation}`, attributes, execute);
    },
    recordOperation: (prepared, record) => {
      record.operation = prepared.label;
      // Other documents are prepared for each request: counting them would fill the memory for counts.
      if (meter && prepared.isKept) record.fields = prepared.usedFields;
    },
    recordResult: ({ errors = [] }, record) => {
      if (errors.length === 0) return;
      record.verdict = verdictOf(errors);
      if (errors.some(isAboveLimits)) meter?.countRejection('limits');
    },
  };
}

/** Returns one code for a response with several errors: the first that concerns the operator, else the first. */
function verdictOf(errors: readonly GraphQLError[]): ErrorCode {
  const codes = errors.map(({ extensions }) => toErrorCode(extensions['code']) ?? 'INTERNAL');
  return operatorCodes.find((code) => codes.includes(code)) ?? codes[0] ?? 'INTERNAL';
}

const operatorCodes: readonly ErrorCode[] = ['INTERNAL', 'UNAVAILABLE'];

/** Whether an operation was rejected for its size, before it was executed. */
function isAboveLimits({ extensions: { issues } }: GraphQLError): boolean {
  const isOfLimits = ({ path, code }: { path?: unknown; code?: string }) =>
    path === 'query' && code?.startsWith('TOO_');
  return Array.isArray(issues) && issues.some(isOfLimits);
}
