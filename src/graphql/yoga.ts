import type { ExecutionResult } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { Authenticate } from '../credential.js';
import type { KeyService } from '../keys/service.js';
import type { Logger } from '../log.js';
import { callerOf, type Asker, type Context, type ServerContext } from './context.js';
import { maskedCause, publicError, requestError } from './errors.js';
import { explainRefusal } from './input-errors.js';
import { exactFloats } from './literal.js';
import { useExactRequests } from './request.js';
import { createLoaders } from './loaders.js';
import { servedSchema } from './schema.js';

interface Parts {
  readonly keys: KeyService;
  readonly authenticate: Authenticate;
  readonly log: Logger;
  /** Whether anyone may look at the schema; else it takes a credential. */
  readonly openIntrospection: boolean;
  /** What other faces answer before a request reaches GraphQL. */
  readonly plugins: readonly Plugin<object, ServerContext>[];
}

type Identify = (request: Request) => Promise<Asker>;

/** The server: GraphQL at /graphql, and whatever the plugins answer before it. */
export function createGraphQLServer({ keys, authenticate, log, openIntrospection, plugins }: Parts) {
  const identify: Identify = async (request) => {
    const holder = await authenticate(request.headers);
    return { holder, mayIntrospect: openIntrospection || Object.keys(holder).length > 0 };
  };
  return createYoga<ServerContext, Context>({
    schema: servedSchema,
    context: async ({ request, requestID }) => {
      const asker = await identify(request);
      const loaders = createLoaders(keys, () => callerOf({ ...asker, requestID }, 'service'));
      return { ...asker, keys, requestID, loaders };
    },
    graphqlEndpoint: '/graphql',
    // Ours match exactly. Yoga's own is matched by the end of the URL, and no URL holds a line break.
    healthCheckEndpoint: '\n',
    graphiql: false,
    landingPage: false,
    multipart: false,
    cors: false,
    logging: false,
    // Bodies are bounded by `useExactRequests`, at half the cost of the built-in limit.
    maxRequestBodySize: false,
    maskedErrors: { maskError: publicError },
    plugins: [...plugins, useExactRequests, useExactFloats, useRefusals(identify), usePublicErrors(log)],
  });
}

const useExactFloats: Plugin = {
  onValidate: ({ addValidationRule }) => addValidationRule(exactFloats),
};

/** Gives an operation that was refused before it ran the answer that helps, and tells strangers nothing. */
function useRefusals(identify: Identify): Plugin {
  return {
    async onExecutionResult(event) {
      const { result, request, context } = event;
      if (!isResult(result) || 'data' in result || !result.errors?.length) return;
      const refusal = explainRefusal(servedSchema, context.params, await identify(request));
      if (!refusal) return;
      const error = requestError(refusal);
      // For clients of application/json a refused operation is an answer like any other.
      Object.assign(error.extensions['http'] as object, { spec: true });
      event.setResult({ errors: [error] });
    },
  };
}

/** The last look at every answer: no error leaves that was not made public, and the masked ones go to the log. */
function usePublicErrors(log: Logger): Plugin<object, ServerContext> {
  return {
    onResultProcess(event) {
      const { result, serverContext } = event;
      if (!isResult(result) || !result.errors) return;
      const errors = result.errors.map((error) => {
        const shown = publicError(error);
        const cause = maskedCause(shown);
        if (cause !== undefined) log.error({ requestID: serverContext.requestID, err: cause }, 'internal error');
        shown.extensions['requestID'] = serverContext.requestID;
        return shown;
      });
      event.setResult({ ...result, errors });
    },
  };
}

function isResult(result: unknown): result is ExecutionResult {
  return typeof result === 'object' && result !== null && !(Symbol.asyncIterator in result) && !Array.isArray(result);
}
