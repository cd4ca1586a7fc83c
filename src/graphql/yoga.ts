import type { ExecutionResult } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { Authenticate, Holder } from '../credential.js';
import type { KeyService } from '../keys/service.js';
import type { Logger } from '../log.js';
import { callerOf, type Context, type ServerContext } from './context.js';
import { maskedCause, operationError, publicError } from './errors.js';
import { explainRefusal } from './input-errors.js';
import { useIntrospectionPolicy, type IntrospectionPolicy } from './introspection.js';
import { exactFloats } from './literal.js';
import { usePlans, type Execute } from './plans/use-plans.js';
import { useExactRequests } from './request.js';
import { createLoaders } from './loaders.js';
import { servedSchema } from './schema.js';
import { useTrustedDocuments, type TrustedDocuments } from './trusted-documents.js';

interface Parts {
  readonly keys: KeyService;
  readonly authenticate: Authenticate;
  readonly log: Logger;
  readonly introspection: IntrospectionPolicy;
  readonly trustedDocuments: TrustedDocuments;
  /** What other faces answer before a request reaches GraphQL. */
  readonly plugins: readonly Plugin<object, ServerContext>[];
  /** What executes operations; by plans where absent. */
  readonly execute?: Execute | undefined;
}

/** The server: GraphQL at /graphql, and whatever the plugins answer before it. */
export function createGraphQLServer({ keys, log, introspection, trustedDocuments, plugins, execute, ...parts }: Parts) {
  const authenticate = oncePerRequest(parts.authenticate);
  return createYoga<ServerContext, Context>({
    schema: servedSchema,
    context: async ({ request, requestID }) => {
      const holder = await authenticate(request.headers);
      const loaders = createLoaders(keys, () => callerOf({ holder, requestID }, 'service'));
      return { holder, keys, requestID, loaders };
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
    plugins: [
      ...plugins,
      useExactRequests,
      ...useTrustedDocuments(trustedDocuments),
      useIntrospectionPolicy(introspection, authenticate),
      useExactFloats,
      useRefusals(authenticate),
      usePublicErrors(log),
      usePlans(servedSchema, execute),
    ],
  });
}

/** Looks a request's credentials up once, however many parts ask for them. */
function oncePerRequest(authenticate: Authenticate): Authenticate {
  const holders = new WeakMap<Headers, Promise<Holder>>();
  return (headers) => {
    const holder = holders.get(headers) ?? authenticate(headers);
    holders.set(headers, holder);
    return holder;
  };
}

const useExactFloats: Plugin = {
  onValidate: ({ addValidationRule }) => addValidationRule(exactFloats),
};

/** Gives an operation that was refused before it ran the answer that helps, and tells strangers nothing. */
function useRefusals(authenticate: Authenticate): Plugin {
  return {
    async onExecutionResult(event) {
      const { result, request, context } = event;
      if (!isResult(result) || 'data' in result || !result.errors?.length) return;
      const refusal = explainRefusal(servedSchema, context.params, await authenticate(request.headers));
      if (refusal) event.setResult({ errors: [operationError(refusal)] });
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
