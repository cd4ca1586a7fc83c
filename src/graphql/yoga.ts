import type { DocumentNode, ExecutionResult } from 'graphql';
import { createYoga, type GraphQLParams, type Plugin } from 'graphql-yoga';
import { refuseExhausted, type Authenticate, type Holder } from '../credential.js';
import type { Audit } from '../keys/attempts.js';
import type { KeyService } from '../keys/service.js';
import type { Logger } from '../log.js';
import type { Watch } from '../watch.js';
import { boundedAnswer } from './answer-size.js';
import { auditRefused } from './audit.js';
import { callerOf, holderOf, type Context, type ServerContext } from './context.js';
import { defaultDeadlineMs, useDeadline } from './deadline.js';
import { createDocumentCache } from './document-cache.js';
import { asAppError, maskedCause, operationError, publicError, requestError } from './errors.js';
import { explainRefusal } from './input-errors.js';
import { mayIntrospect, useIntrospectionPolicy, type IntrospectionPolicy } from './introspection.js';
import { useLimits } from './limits.js';
import { exactFloats } from './literal.js';
import { createPlannedExecute, usePlans, type Execute } from './plans/use-plans.js';
import { useExactRequests } from './request.js';
import { createLoaders } from './loaders.js';
import { servedSchema } from './served-schema.js';
import { createShortcut } from './shortcut.js';
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
  readonly watch?: Watch | undefined;
}

/** The server: GraphQL at /graphql, and whatever the plugins answer before it. */
export function createGraphQLServer({ keys, authenticate, audit, log, plugins, ...options }: Parts) {
  const { deadlineMs = defaultDeadlineMs, execute = createPlannedExecute(servedSchema), introspection } = options;
  const contextOf = ({ requestID, clientAddress }: ServerContext, holder: Holder): Context => {
    refuseExhausted(holder);
    const loaders = createLoaders(keys, () => callerOf({ holder, requestID }, 'service'));
    return { keys, audit, requestID, clientAddress, holder, loaders };
  };
  const { shortcut, learn } = createShortcut({
    authenticate,
    mayAsk: (holder) => !holder.limited && mayIntrospect(introspection, holder),
    contextOf,
    execute,
    deadlineMs,
  });
  const yoga = createYoga<ServerContext, Context>({
    schema: servedSchema,
    context: async (asked) => contextOf(asked, await holderOf(authenticate, asked.request, asked)),
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
      useIntrospectionPolicy(introspection, authenticate),
      useLimits,
      useExactFloats,
      useDeadline(deadlineMs),
      useRefusals(authenticate, audit),
      usePublicErrors(log),
      usePlans(servedSchema, execute),
      learn,
      // The last, so that it traces what executes and sees what is answered.
      useWatch(servedSchema, options.watch ?? {}),
    ],
  });
  // It knows operations by their text, and traces nothing.
  const isWide = options.trustedDocuments.only || options.watch?.tracer;
  return { yoga, shortcut: isWide ? undefined : shortcut };
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
      const { requestID } = context;
      const holder = await holderOf(authenticate, request, context);
      const document = documents.get(context.params);
      const operation = { ...context.params, document };
      // What is no document, or one beyond the limits, has been explained already.
      const refusal = document && explainRefusal(servedSchema, operation, holder);
      auditRefused(audit, servedSchema, operation, { requestID, holder }, refusal ?? asAppError(result.errors[0]));
      if (!refusal) return;
      // For clients of application/json a refused operation is an answer like any other, unless it was not looked at.
      const isLimited = refusal.code === 'RATE_LIMITED';
      event.setResult({ errors: [isLimited ? requestError(refusal) : operationError(refusal)] });
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
