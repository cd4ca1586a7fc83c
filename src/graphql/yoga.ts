import type { ExecutionResult } from 'graphql';
import {
  createYoga,
  getSSEProcessor,
  isAsyncIterable,
  processRegularResult,
  type GraphQLParams,
  type Plugin,
} from 'graphql-yoga';
import { preferredType } from '../http/content-negotiation.js';
import type { RequestContext } from '../http/request-context.js';
import { fromFetchResponse, type HTTPResponse } from '../http/response.js';
import { AppError } from '../lib/errors.js';
import type { ServerContext } from './context.js';
import { requestError } from './errors.js';
import { serveOperation, type PipelineDeps } from './execution/execute-prepared.js';
import { paramsOf } from './execution/params.js';
import { withStatusOfError } from './execution/rejection.js';
import { maskResult, negotiateJSON } from './execution/response.js';

/** A plugin that a test adds. */
export type TestPlugin = Plugin<object, ServerContext>;

/** GraphQL over HTTP for the requests that the fast path does not serve: those for event streams, and of other methods. */
export interface YogaHandler {
  readonly handle: (request: RequestContext) => Promise<HTTPResponse>;
  readonly dispose: () => Promise<void>;
}

/**
 * Creates the handler. Yoga checks the method, and writes results in the media type of the request. It does not see
 * documents: `serveOperation` serves their operations.
 */
export function createYogaHandler(deps: PipelineDeps, testPlugins: readonly TestPlugin[] = []): YogaHandler {
  const yoga = createYoga<ServerContext>({
    graphqlEndpoint: '/graphql',
    // Disables Yoga's health check, which matches the end of the URL: no URL contains a line break.
    healthCheckEndpoint: '\n',
    graphiql: false,
    landingPage: false,
    multipart: false,
    cors: false,
    logging: false,
    // `paramsOf` limits bodies, at half the cost of the built-in limit.
    maxRequestBodySize: false,
    parserAndValidationCache: false,
    // The plugin masks every error, once.
    maskedErrors: false,
    plugins: [...testPlugins, useOperations(deps)],
  });
  const { handleRequest, fetchAPI } = yoga;
  return {
    async handle(requestContext) {
      const { method, target, headers } = requestContext;
      // Yoga itself reads only the method, the URL and this header. The plugin reads the request context.
      const accept = headers.get('accept');
      const request = new fetchAPI.Request(`http://localhost${target}`, {
        method,
        headers: accept === null ? {} : { accept },
      });
      const response = await handleRequest(request, { requestContext });
      return fromFetchResponse(response);
    },
    dispose: async () => yoga.dispose(),
  };
}

/** The types of Yoga's responses. */
const responseTypes = ['application/graphql-response+json', 'application/json', 'text/event-stream', 'multipart/mixed'];

/** Replaces how Yoga reads requests, what it does with them, and the media type of failed requests. */
function useOperations(deps: PipelineDeps): Plugin<object, ServerContext> {
  const { nextStage, telemetry } = deps;
  const served = new WeakSet<object>();

  function readParams(request: RequestContext): Promise<GraphQLParams> {
    // Yoga negotiates only after it has executed a mutation.
    if (preferredType(request.headers.get('accept'), responseTypes) === undefined) throw notAcceptable();
    return paramsOf(request, nextStage);
  }

  return {
    onRequestParse: ({ setRequestParser }) => setRequestParser(() => unreadParams),
    onParams({ setParamsHandler, context: { requestContext } }) {
      setParamsHandler(async () => {
        const result = await serveOperation(deps, () => readParams(requestContext), requestContext);
        served.add(result);
        return result;
      });
    },
    async onResultProcess(event) {
      const { request, serverContext } = event;
      const { id, record, headers } = serverContext.requestContext;
      const result = event.result as ExecutionResult | AsyncIterable<ExecutionResult>;
      // By default, Yoga prefers multipart, whose parts no client of subscriptions expects.
      if (isAsyncIterable(result)) return event.setResultProcessor(getSSEProcessor(), 'text/event-stream');
      // An error of Yoga has not been masked.
      const shown = served.has(result) ? result : await maskResult(deps, result, id);
      if (shown !== result) telemetry.recordResult(shown, record);
      event.setResult(shown);
      if ('data' in shown || !shown.errors?.length) return;
      const acceptsJSON = preferredType(headers.get('accept'), jsonTypes) !== undefined;
      if (!acceptsJSON) withStatusOfError(shown);
      else if (!hasStatusOfError(shown)) return;
      const mediaType = negotiateJSON(request.headers.get('accept')) ?? 'application/graphql-response+json';
      event.setResultProcessor(processRegularResult as Processor, mediaType);
    },
  };
}

/** The handler reads the parameters, so that it masks all errors. */
const unreadParams: GraphQLParams = { query: '' };

type Processor = Parameters<
  Parameters<NonNullable<Plugin<object, ServerContext>['onResultProcess']>>[0]['setResultProcessor']
>[0];

const jsonTypes = ['application/graphql-response+json', 'application/json'];

function hasStatusOfError({ errors = [] }: ExecutionResult): boolean {
  return errors.some(({ extensions: { http } }) => (http as { spec?: boolean } | undefined)?.spec === false);
}

function notAcceptable(): unknown {
  const message = 'The Accept header must allow application/json or application/graphql-response+json.';
  return requestError(new AppError('INVALID', message), 406);
}
