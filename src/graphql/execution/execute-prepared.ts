import { OperationTypeNode, type ExecutionResult, type GraphQLError } from 'graphql';
import type { GraphQLParams } from 'graphql-yoga';
import { throwIfRateLimited, type AuthContext } from '../../credentials/credential.js';
import type { RequestContext } from '../../http/request-context.js';
import { toErrorCode, type ErrorCode } from '../../lib/errors.js';
import type { RequestRecord, Telemetry } from '../../telemetry/ports.js';
import { createContext, type ContextDeps } from '../context.js';
import { markNotExecuted } from '../errors.js';
import { startDeadline } from './deadline.js';
import { executeDistinct } from './distinct-representations.js';
import type { Execute } from './executor/execute.js';
import type { PreparedOperation } from './operation-cache.js';
import { resolveParams, type RequestedOperation, type ParamsDeps } from './params.js';
import { prepare, type PrepareDeps } from './prepare.js';
import { RejectedOperation, resultOfRejected, withStatusOfError } from './rejection.js';
import { maskResult, type MaskDeps } from './response.js';
import { subscribe } from './subscribe.js';
import type { SubscriptionRegistry } from './subscription-registry.js';

/** The parts of the service that the operations of all requests share. */
export interface PipelineDeps extends ParamsDeps, PrepareDeps, ContextDeps, MaskDeps {
  readonly execute: Execute;
  readonly subscriptions: SubscriptionRegistry;
  readonly telemetry: OperationTelemetry;
}

/** The result of an operation for its client, or the results of a subscription. A result without `data` was not executed. */
export type ServedResult = ExecutionResult | AsyncIterableIterator<ExecutionResult, void, void>;

/**
 * Serves an operation, the same for each transport: the fast path, Yoga and WebSockets differ only in how they read
 * parameters and send results. Does not reject.
 */
export async function serveOperation(
  deps: PipelineDeps,
  readParams: () => Promise<GraphQLParams>,
  request: RequestContext,
): Promise<ServedResult> {
  let params: RequestedOperation | undefined;
  try {
    const sent = await readParams();
    const auth = await request.principal();
    params = resolveParams(deps, sent, auth);
    const prepared = await prepare(deps, params, auth, request);
    return await executePrepared(deps, prepared, params, auth, request);
  } catch (error) {
    return finish(deps, await resultOfError(deps, error, params?.variables ?? {}, request), request);
  }
}

/**
 * Executes a prepared operation: context, deadline, execution, masking, record. `prepare` has applied the limits.
 *
 * @throws {RejectedOperation} when the operation was not executed.
 * @throws {GraphQLError} UNAVAILABLE when a query takes longer than its deadline.
 */
async function executePrepared(
  deps: PipelineDeps,
  prepared: PreparedOperation,
  params: RequestedOperation,
  auth: AuthContext,
  request: RequestContext,
): Promise<ServedResult> {
  const { execute, telemetry, deadlineMs, nextSlice } = deps;
  await deps.nextStage();
  requireVerified(prepared, auth);
  const context = createContext(deps, request, auth);
  telemetry.recordOperation(prepared, request.record);
  const { variables } = params;
  const kind = prepared.operation.operation;
  if (kind === OperationTypeNode.SUBSCRIPTION) return subscribe(deps, prepared, variables, context);

  const isMutation = kind === OperationTypeNode.MUTATION;
  const deadline = startDeadline(deadlineMs, isMutation);
  // A query fails as a whole. Each mutation applies the deadline itself, so that the response reports earlier ones.
  const given = isMutation
    ? { variableValues: variables, contextValue: { ...context, deadline }, nextSlice }
    : { variableValues: variables, contextValue: context, deadline, nextSlice };
  let result: ExecutionResult;
  try {
    result = await telemetry.traceExecution(prepared, () => executeDistinct(execute, prepared, given));
  } finally {
    deadline.clear();
  }
  // As with graphql-js, a result without `data` reports an operation that was not executed.
  if (!('data' in result)) throw new RejectedOperation(prepared, markNotExecuted(result).errors ?? []);
  return finish(deps, result, request);
}

/** @throws {RejectedOperation} when no credential is valid and one was not verified. */
function requireVerified(prepared: PreparedOperation, auth: AuthContext): void {
  try {
    throwIfRateLimited(auth);
  } catch (error) {
    throw new RejectedOperation(prepared, [error]);
  }
}

async function resultOfError(
  { audit, nextStage }: PipelineDeps,
  error: unknown,
  variables: RequestedOperation['variables'],
  request: RequestContext,
): Promise<ExecutionResult> {
  if (!(error instanceof RejectedOperation)) return { errors: [error as GraphQLError] };
  // Explaining a large definition takes milliseconds.
  await nextStage();
  try {
    const result = resultOfRejected(error, audit, {
      requestID: request.id,
      auth: await request.principal(),
      variables,
    });
    const isSubscription = error.prepared.operation.operation === OperationTypeNode.SUBSCRIPTION;
    return isSubscription ? withStatusOfError(result) : result;
  } catch (failure) {
    return { errors: [failure as GraphQLError] };
  }
}

/** Masks a result for its client, and records its errors. */
async function finish(deps: PipelineDeps, result: ExecutionResult, request: RequestContext): Promise<ExecutionResult> {
  const shown = await maskResult(deps, result, request.id);
  deps.telemetry.recordResult(shown, request.record);
  await deps.nextStage();
  return shown;
}

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
