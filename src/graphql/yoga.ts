import { getOperationAST, OperationTypeNode, type DocumentNode, type ExecutionResult } from 'graphql';
import { createYoga, type GraphQLParams, type Plugin } from 'graphql-yoga';
import { refuseExhausted, type Authenticate } from '../credential.js';
import type { Audit } from '../keys/attempts.js';
import type { KeyService } from '../keys/service.js';
import type { Logger } from '../log.js';
import type { Watch } from '../watch.js';
import { auditRefused } from './audit.js';
import { callerOf, type Context, type ServerContext } from './context.js';
import { defaultDeadlineMs, useDeadline } from './deadline.js';
import { createDocumentCache } from './document-cache.js';
import { asAppError, operationError, publicError, requestError } from './errors.js';
import { explainRefusal } from './input-errors.js';
import { useIntrospectionPolicy, type IntrospectionPolicy } from './introspection.js';
import { useLimits } from './limits.js';
import { exactFloats } from './literal.js';
import { publicResult } from './public-result.js';
import { usePlans, type Execute } from './plans/use-plans.js';
import { useExactRequests } from './request.js';
import { createLoaders } from './loaders.js';
import { servedSchema } from './served-schema.js';
import { createStreams, type Streams } from './streams.js';
import { useSubscriptions } from './subscriptions.js';
import { useTrustedDocuments, type TrustedDocuments } from './trusted-documents.js';
import { useWatch } from './watched.js';

interface Parts {
  readonly keys: KeyService;
  readonly authenticate: Authenticate;
  readonly audit: Audit;
  readonly log: Logger;
  readonly introspection: IntrospectionPolicy;
  readonly trustedDocuments: TrustedDocuments;
  /** What other faces answer before a request reaches GraphQL. */
  readonly plugins: readonly Plugin<object, ServerContext>[];
  /** How long an operation may take. */
  readonly deadlineMs?: number | undefined;
  /** What executes operations; by plans where absent. */
  readonly execute?: Execute | undefined;
  /** Where subscriptions are counted and ended. */
  readonly streams?: Streams | undefined;
  readonly watch?: Watch | undefined;
}

/** The server: GraphQL at /graphql, and whatever the plugins answer before it. */
export function createGraphQLServer({ keys, authenticate, audit, log, plugins, ...options }: Parts) {
  const { deadlineMs = defaultDeadlineMs, streams = createStreams() } = options;
  return createYoga<ServerContext, Context>({
    schema: servedSchema,
    context: async ({ request, requestID, clientAddress }) => {
      const holder = await authenticate({ headers: request.headers, requestID, clientAddress });
      refuseExhausted(holder);
      const loaders = createLoaders(keys, () => callerOf({ holder, requestID }, 'service'));
      // Of the same headers authentication would answer the same.
      const holderNow = () => authenticate({ headers: new Headers([...request.headers]), requestID, clientAddress });
      return { keys, audit, requestID, clientAddress, holder, loaders, holderNow, openStream: noStream };
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
      ...useTrustedDocuments(options.trustedDocuments),
      // Before all that compares an operation with the schema, or weighs it by what the schema says.
      useIntrospectionPolicy(options.introspection, authenticate),
      useLimits,
      useExactFloats,
      useDeadline(deadlineMs),
      useRefusals(authenticate, audit),
      usePublicErrors(log),
      usePlans(servedSchema, options.execute),
      useSubscriptions({ streams, log, deadlineMs }),
      // The last, so that it traces what executes and sees what is answered.
      useWatch(servedSchema, options.watch ?? {}),
    ],
  });
}

function noStream(): never {
  throw new Error('Only a subscription goes on.');
}

const useExactFloats: Plugin = {
  onValidate: ({ addValidationRule }) => addValidationRule(exactFloats),
};

/** Gives an operation that was refused before it ran the answer that helps, and tells strangers nothing. */
function useRefusals(authenticate: Authenticate, audit: Audit): Plugin<object, ServerContext> {
  const documents = new WeakMap<GraphQLParams, DocumentNode>();
  return {
    onValidate({ params, context }) {
      documents.set(context.params, params.documentAST as DocumentNode);
    },
    async onExecutionResult(event) {
      const { result, request, context } = event;
      if (!isResult(result) || 'data' in result || !result.errors?.length) return;
      const { requestID, clientAddress } = context;
      const holder = await authenticate({ headers: request.headers, requestID, clientAddress });
      const document = documents.get(context.params);
      const operation = { ...context.params, document };
      // What is no document, or one beyond the limits, has been explained already.
      const refusal = document && explainRefusal(servedSchema, operation, holder);
      auditRefused(audit, servedSchema, operation, { requestID, holder }, refusal ?? asAppError(result.errors[0]));
      if (!refusal) return;
      // For clients of application/json a refused operation is an answer like any other, unless it was not looked at. One
      // that asks for a stream gets none, which its status says.
      const isRequests = refusal.code === 'RATE_LIMITED' || isSubscription(document, context.params.operationName);
      event.setResult({ errors: [isRequests ? requestError(refusal) : operationError(refusal)] });
    },
  };
}

function isSubscription(document: DocumentNode, operationName: string | undefined): boolean {
  return getOperationAST(document, operationName)?.operation === OperationTypeNode.SUBSCRIPTION;
}

/** The last look at every answer: no error leaves that was not made public, masked ones go to the log, size is bounded. */
function usePublicErrors(log: Logger): Plugin<object, ServerContext> {
  return {
    onResultProcess(event) {
      const { result, serverContext } = event;
      if (!isResult(result)) return;
      event.setResult(publicResult(result, serverContext.requestID, log));
    },
  };
}

function isResult(result: unknown): result is ExecutionResult {
  return typeof result === 'object' && result !== null && !(Symbol.asyncIterator in result) && !Array.isArray(result);
}
