import type { ExecutionResult } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { refuseExhausted, type Authenticate } from '../credential.js';
import type { Audit } from '../keys/attempts.js';
import type { KeyService } from '../keys/service.js';
import type { Logger } from '../log.js';
import { auditRefused } from './audit.js';
import type { Context, ServerContext } from './context.js';
import { asAppError, maskedCause, publicError, requestError } from './errors.js';
import { explainRefusal } from './input-errors.js';
import { exactFloats } from './literal.js';
import { useExactRequests } from './request.js';
import { schema } from './schema.js';

interface Parts {
  readonly keys: KeyService;
  readonly authenticate: Authenticate;
  readonly audit: Audit;
  readonly log: Logger;
  /** What other faces answer before a request reaches GraphQL. */
  readonly plugins: readonly Plugin<object, ServerContext>[];
}

/** The server: GraphQL at /graphql, and whatever the plugins answer before it. */
export function createGraphQLServer({ keys, authenticate, audit, log, plugins }: Parts) {
  return createYoga<ServerContext, Context>({
    schema,
    context: async ({ request, requestID, clientAddress }) => {
      const holder = await authenticate({ headers: request.headers, requestID, clientAddress });
      refuseExhausted(holder);
      return { keys, audit, requestID, clientAddress, holder };
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
    plugins: [...plugins, useExactRequests, useExactFloats, useRefusals(authenticate, audit), usePublicErrors(log)],
  });
}

const useExactFloats: Plugin = {
  onValidate: ({ addValidationRule }) => addValidationRule(exactFloats),
};

/** Gives an operation that was refused before it ran the answer that helps, and tells strangers nothing. */
function useRefusals(authenticate: Authenticate, audit: Audit): Plugin<object, ServerContext> {
  return {
    async onExecutionResult(event) {
      const { result, request, context } = event;
      if (!isResult(result) || 'data' in result || !result.errors?.length) return;
      const { requestID, clientAddress } = context;
      const holder = await authenticate({ headers: request.headers, requestID, clientAddress });
      const refusal = explainRefusal(schema, context.params, holder);
      auditRefused(audit, schema, context.params, { requestID, holder }, refusal ?? asAppError(result.errors[0]));
      if (!refusal) return;
      const error = requestError(refusal);
      // For clients of application/json a refused operation is an answer like any other, unless it was not looked at.
      if (refusal.code !== 'RATE_LIMITED') Object.assign(error.extensions['http'] as object, { spec: true });
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
