import type { DocumentNode, ExecutionResult } from 'graphql';
import { createYoga, type GraphQLParams, type Plugin } from 'graphql-yoga';
import type { Authenticate, Holder } from '../credential.js';
import type { KeyService } from '../keys/service.js';
import type { Logger } from '../log.js';
import { boundedAnswer } from './answer-size.js';
import { callerOf, type Context, type ServerContext } from './context.js';
import { defaultDeadlineMs, useDeadline } from './deadline.js';
import { createDocumentCache } from './document-cache.js';
import { maskedCause, operationError, publicError } from './errors.js';
import { explainRefusal } from './input-errors.js';
import { useIntrospectionPolicy, type IntrospectionPolicy } from './introspection.js';
import { useLimits } from './limits.js';
import { exactFloats } from './literal.js';
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
  /** How long an operation may take. */
  readonly deadlineMs?: number | undefined;
}

/** The server: GraphQL at /graphql, and whatever the plugins answer before it. */
export function createGraphQLServer({ keys, log, introspection, trustedDocuments, plugins, ...parts }: Parts) {
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
    // Yoga keeps a thousand documents however large, and errors that quote them.
    parserAndValidationCache: {
      documentCache: createDocumentCache(),
      errorCache: { get: () => undefined, set: () => undefined },
    },
    maskedErrors: { maskError: publicError },
    plugins: [
      ...plugins,
      useExactRequests,
      ...useTrustedDocuments(trustedDocuments),
      // Before all that compares an operation with the schema, or weighs it by what the schema says.
      useIntrospectionPolicy(introspection, authenticate),
      useLimits,
      useExactFloats,
      useDeadline(parts.deadlineMs ?? defaultDeadlineMs),
      useRefusals(authenticate),
      usePublicErrors(log),
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
  const documents = new WeakMap<GraphQLParams, DocumentNode>();
  return {
    onValidate({ params, context }) {
      documents.set(context.params, params.documentAST as DocumentNode);
    },
    async onExecutionResult(event) {
      const { result, request, context } = event;
      const document = documents.get(context.params);
      // What is no document, or one beyond the limits, has been explained already.
      if (!document || !isResult(result) || 'data' in result || !result.errors?.length) return;
      const holder = await authenticate(request.headers);
      const refusal = explainRefusal(servedSchema, { ...context.params, document }, holder);
      if (refusal) event.setResult({ errors: [operationError(refusal)] });
    },
  };
}

/** The last look at every answer: no error leaves that was not made public, masked ones go to the log, size is bounded. */
function usePublicErrors(log: Logger): Plugin<object, ServerContext> {
  return {
    onResultProcess(event) {
      const { result, serverContext } = event;
      if (!isResult(result)) return;
      // Yoga drops what an aborted wait throws, such as one with a time limit of its own, and would answer nothing at all.
      const isLost = result.errors?.length === 0 && !('data' in result);
      const thrown = isLost ? [new Error('A wait was aborted.')] : result.errors;
      const errors = thrown?.map((error) => {
        const shown = publicError(error);
        const cause = maskedCause(shown);
        if (cause !== undefined) log.error({ requestID: serverContext.requestID, err: cause }, 'internal error');
        shown.extensions['requestID'] = serverContext.requestID;
        return shown;
      });
      event.setResult(boundedAnswer(errors ? { ...result, errors } : result, serverContext.requestID));
    },
  };
}

function isResult(result: unknown): result is ExecutionResult {
  return typeof result === 'object' && result !== null && !(Symbol.asyncIterator in result) && !Array.isArray(result);
}
