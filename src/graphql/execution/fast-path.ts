import { OperationTypeNode, type ExecutionResult } from 'graphql';
import { processRegularResult, type FetchAPI } from 'graphql-yoga';
import { isJSONContentType } from '../../http/body.js';
import type { RequestContext } from '../../http/request-context.js';
import type { HTTPResponse } from '../../http/response.js';
import { negotiateJSON, type JSONType } from '../response-type.js';
import { serveOperation, type PipelineDeps } from './execute-prepared.js';
import { paramsOfBody, resolveParams } from './params.js';

/**
 * Serves an operation that is known without Yoga: its hooks and `fetch` take longer than a preview. The response has the
 * same bytes as that of Yoga. Returns undefined, before it executes the operation, for a request that Yoga must serve; no
 * effect then occurs twice.
 */
export async function serveFast(deps: PipelineDeps, request: RequestContext): Promise<HTTPResponse | undefined> {
  const { method, target, headers } = request;
  if (method !== 'POST' || target !== '/graphql' || !isJSONContentType(headers.get('content-type'))) return undefined;
  const mediaType = negotiateJSON(headers.get('accept'));
  if (!mediaType || !(await isKnown(deps, request))) return undefined;

  // Coercing and executing take tens of milliseconds each for the largest requests.
  await deps.nextSlice();
  const result = await serveOperation(deps, () => paramsOfBody(request, deps.nextSlice), request);
  const response = toResponse(result as ExecutionResult, mediaType);
  // Encoding 2 MiB for the socket takes as long as stringifying them.
  await deps.nextSlice();
  return response;
}

/** Whether a request is for a query or mutation that was validated before. */
async function isKnown(deps: PipelineDeps, request: RequestContext): Promise<boolean> {
  try {
    const params = await paramsOfBody(request, deps.nextSlice);
    const { query, operationName } = resolveParams(deps, params, await request.principal());
    const known = deps.operations.find(query, operationName);
    return known !== undefined && known.isValid && known.operation.operation !== OperationTypeNode.SUBSCRIPTION;
  } catch {
    // Yoga rejects the request.
    return false;
  }
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
