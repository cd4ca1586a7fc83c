import { getSSEProcessor, isAsyncIterable, processRegularResult, type FetchAPI } from 'graphql-yoga';
import type { RequestContext } from '../../http/request-context.js';
import { fromFetchResponse, type HTTPResponse } from '../../http/response.js';
import { largeText } from '../../lib/scheduler.js';
import { serveOperation, type PipelineDeps } from './execute-prepared.js';
import { paramsOf } from './params.js';
import { negotiateJSON } from './response.js';

const methods: ReadonlySet<string> = new Set(['GET', 'POST']);

/**
 * Serves a request whose client accepts JSON without Yoga: its hooks and `fetch` take longer than a preview. The response
 * has the same bytes as that of Yoga. Returns undefined for any other request, of which it has read only headers.
 */
export async function serveFast(deps: PipelineDeps, request: RequestContext): Promise<HTTPResponse | undefined> {
  const mediaType = negotiateJSON(request.headers.get('accept'));
  if (!mediaType || !methods.has(request.method)) return undefined;

  const result = await serveOperation(deps, () => paramsOf(request, deps.nextStage), request);
  // A client that starts a subscription and accepts any type receives an event stream.
  if (isAsyncIterable(result)) return fromFetchResponse(await toEventStream(result, globalThis, 'text/event-stream'));
  const response = processRegularResult(result, fetchAPI, mediaType) as unknown as ReadyResponse;
  // Encoding 2 MiB for the socket takes as long as stringifying them.
  if (response.body.length > largeText) await deps.nextStage();
  return response;
}

const toEventStream = getSSEProcessor();

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
