import { OperationTypeNode, type ExecutionResult, type GraphQLError } from 'graphql';
import { processRegularResult, type FetchAPI, type GraphQLParams } from 'graphql-yoga';
import { hasPrincipal, type AuthContext } from '../../credentials/credential.js';
import { isJSONContentType } from '../../http/body.js';
import type { RequestContext } from '../../http/request-context.js';
import type { HTTPResponse } from '../../http/response.js';
import { isObject } from '../../lib/json.js';
import type { Logger } from '../../lib/log.js';
import type { Context, ServerContext } from '../context.js';
import type { Execute } from './executor/execute.js';
import type { OperationCache, PreparedOperation } from './operation-cache.js';
import { startDeadline } from './deadline.js';
import { limitsOf, type OperationLimits } from './limits.js';
import { documentIDOf, isCostRequested, paramsOfBody, withoutPrefix } from './params.js';
import type { IntrospectionPolicy } from '../plugins/use-introspection-policy.js';
import { issuesOf } from '../plugins/use-limits.js';
import type { OperationTelemetry } from '../plugins/use-telemetry.js';
import { maskResult } from '../plugins/use-masked-errors.js';
import { negotiateJSON, type JSONType } from '../response-type.js';
import { servedSchema } from '../schema/served.js';
import type { TrustedDocuments } from '../plugins/use-trusted-documents.js';

/**
 * Executes an operation that Yoga has validated before, without Yoga: its hooks and `fetch` take longer than a preview.
 * The response has the same bytes as that of Yoga. Returns undefined, before it executes the operation, for a request
 * that Yoga must serve; no effect then occurs twice.
 */
export type FastPath = (request: RequestContext) => Promise<HTTPResponse | undefined>;

interface FastPathDeps {
  readonly operations: OperationCache;
  readonly trustedDocuments: TrustedDocuments;
  readonly introspection: IntrospectionPolicy;
  readonly createContext: (server: ServerContext, auth: AuthContext) => Context;
  readonly execute: Execute;
  readonly telemetry: OperationTelemetry;
  readonly nextSlice: Context['nextSlice'];
  readonly deadlineMs: number;
  readonly maximum: OperationLimits;
  readonly log: Logger;
}

/** Creates the fast path. */
export function createFastPath(deps: FastPathDeps): FastPath {
  const { operations, trustedDocuments, introspection, createContext, execute, telemetry, nextSlice, deadlineMs, log } =
    deps;
  const maximum = limitsOf(deps.maximum, false);

  async function run(
    request: RequestContext,
    auth: AuthContext,
    prepared: PreparedOperation,
    variables: Pick<Parameters<Execute>[0], 'variableValues' | 'coercedVariableValues'>,
  ): Promise<ExecutionResult> {
    const { document, operation } = prepared;
    const isMutation = operation.operation === OperationTypeNode.MUTATION;
    const context = createContext({ requestContext: request }, auth);
    const deadline = startDeadline(deadlineMs, isMutation);
    const args = {
      schema: servedSchema,
      document,
      operationName: operation.name?.value,
      contextValue: isMutation ? { ...context, deadline } : context,
      deadline: isMutation ? undefined : deadline,
      ...variables,
    };
    try {
      return await telemetry.traceExecution(prepared, () => execute(args));
    } catch (error) {
      return { errors: [error as GraphQLError] };
    } finally {
      deadline.clear();
    }
  }

  return async (request) => {
    const { method, target, headers } = request;
    if (method !== 'POST' || target !== '/graphql' || !isJSONContentType(headers.get('content-type'))) return undefined;
    const mediaType = negotiateJSON(headers.get('accept'));
    const params = mediaType && (await readParams(request, trustedDocuments, nextSlice));
    if (!params) return undefined;

    // Parsing, coercing and executing take tens of milliseconds each for the largest requests.
    await nextSlice();
    const { text, operationName, variableValues } = params;
    const prepared = operations.find(text, operationName);
    if (!prepared?.isValid || prepared.operation.operation === OperationTypeNode.SUBSCRIPTION) return undefined;
    if (issuesOf(servedSchema, prepared, variableValues, maximum).length > 0) return undefined;
    const coercedVariableValues = prepared.compiled.coerceVariables(variableValues);
    if (!coercedVariableValues) return undefined;
    const auth = await request.principal().catch(() => undefined);
    if (!auth || auth.unverified || (introspection !== 'open' && !hasPrincipal(auth))) return undefined;
    await nextSlice();

    telemetry.recordOperation(prepared, request.record);
    const executed = await run(request, auth, prepared, { variableValues, coercedVariableValues });
    const result = await maskResult(executed, request.id, log, nextSlice);
    telemetry.recordResult(result, request.record);
    const response = toResponse(result, mediaType);
    // Encoding 2 MiB for the socket takes as long as stringifying them.
    await nextSlice();
    return response;
  };
}

interface Params {
  /** The text of the document. */
  readonly text: string;
  readonly operationName: string | undefined;
  readonly variableValues: Record<string, unknown>;
}

/** The parameters in the body of a request; undefined when Yoga must look up the document or reject the request. */
async function readParams(
  request: RequestContext,
  trustedDocuments: TrustedDocuments,
  nextSlice: Context['nextSlice'],
): Promise<Params | undefined> {
  try {
    const body = await paramsOfBody(request, nextSlice);
    const text = trustedTextOf(trustedDocuments, body);
    if (isCostRequested(body)) return undefined;
    const { operationName, variables, extensions } = body as Readonly<Record<string, unknown>>;
    const isName = operationName === undefined || operationName === null || typeof operationName === 'string';
    if (typeof text !== 'string' || !isName || ![variables ?? {}, extensions ?? {}].every(isObject)) return undefined;
    return { text, operationName: operationName ?? undefined, variableValues: isObject(variables) ? variables : {} };
  } catch {
    return undefined;
  }
}

/**
 * Returns the document of a request, sent as `query` or by an id; undefined when Yoga's plugins must decide.
 *
 * @throws {GraphQLError} INVALID when the id is not a string.
 */
function trustedTextOf({ documents, only }: TrustedDocuments, params: GraphQLParams): unknown {
  const id = documentIDOf(params);
  if (id === undefined) return only ? undefined : params.query;
  return params.query == null ? documents.get(withoutPrefix(id)) : undefined;
}

/** Replaces the `Response` of fetch, which takes ten times as long to create. */
class ReadyResponse implements HTTPResponse {
  readonly status: number;
  readonly headers: Record<string, string> = {};
  readonly body: string;

  constructor(
    body: string,
    { status, headers }: { readonly status: number; readonly headers: Record<string, string> },
  ) {
    this.status = status;
    for (const name in headers) this.headers[name.toLowerCase()] = headers[name] ?? '';
    this.body = body;
  }
}

const fetchAPI = { Response: ReadyResponse } as unknown as FetchAPI;

/** Returns the response to a result, with the same status, headers and text as Yoga. */
function toResponse(result: ExecutionResult, mediaType: JSONType): HTTPResponse {
  return processRegularResult(result, fetchAPI, mediaType) as unknown as ReadyResponse;
}
