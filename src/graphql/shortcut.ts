import {
  getOperationAST,
  OperationTypeNode,
  type DocumentNode,
  type ExecutionResult,
  type OperationDefinitionNode,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Holder } from '../credential.js';
import { readBody } from '../http/body.js';
import type { RequestContext } from '../http/request-context.js';
import { isObject, parseJSON } from '../lib/json.js';
import { answerLimitBytes, isLongerThan } from './answer-size.js';
import type { Begun, Context, ServerContext } from './context.js';
import { beginDeadline } from './deadline.js';
import { createDocumentCache } from './document-cache.js';
import { isWithinLimits } from './limits.js';
import type { Execute } from './plans/use-plans.js';
import { bodyLimitBytes } from './request.js';
import { servedSchema } from './served-schema.js';

/**
 * Answers a request whose operation Yoga has executed before, whoever asked for it then: with JSON where there is no
 * error in it. Otherwise it returns what it has executed, if anything, and Yoga completes the response, so that there is one
 * way to reject a request and one to respond with an error.
 */
export type Shortcut = (request: RequestContext) => Promise<string | Begun | undefined>;

interface Parts {
  /** Whether a holder may ask anything. */
  readonly mayAsk: (holder: Holder) => boolean;
  readonly contextOf: (asked: ServerContext, holder: Holder) => Context;
  readonly execute: Execute;
  readonly deadlineMs: number;
}

/** The shortcut, and the plugin by which it learns which operations came through all that is asked of one. */
export function createShortcut({ mayAsk, contextOf, execute, deadlineMs }: Parts) {
  const documents = createDocumentCache();
  /** What the log calls them. */
  const labels = new WeakMap<OperationDefinitionNode, string>();

  const learn: Plugin<object, ServerContext> = {
    onExecute({ args, context }) {
      const { params, requestContext } = context as typeof context & ServerContext;
      const document = args.document as DocumentNode;
      const operation = getOperationAST(document, params.operationName);
      // One that is weighed by its variables must be weighed each time.
      if (!operation || !params.query || !isWithinLimits(operation)) return;
      documents.set(params.query, document);
      labels.set(operation, requestContext.record.operation);
    },
  };

  /** What an operation comes to; undefined where Yoga has to execute it, or to say why it does not. */
  async function run(params: PlainParams, known: Known, asked: ServerContext, holder: Holder) {
    const isMutation = known.operation.operation === OperationTypeNode.MUTATION;
    const context = contextOf(asked, holder);
    const deadline = beginDeadline(deadlineMs, isMutation);
    try {
      const result = execute({
        schema: servedSchema,
        document: known.document,
        operationName: params.operationName,
        variableValues: params.variables,
        contextValue: isMutation ? { ...context, deadline } : context,
        signal: isMutation ? undefined : deadline,
      });
      return (await result) as ExecutionResult | undefined;
    } finally {
      deadline.end();
    }
  }

  const shortcut: Shortcut = async (requestContext) => {
    const params = paramsIn(await readBody(requestContext, bodyLimitBytes).catch(() => undefined));
    const document = params && documents.get(params.query);
    const operation = document && getOperationAST(document, params.operationName);
    const label = operation ? labels.get(operation) : undefined;
    if (!document || !operation || label === undefined) return undefined;

    const holder = await requestContext.principal().catch(() => undefined);
    if (!holder || !mayAsk(holder)) return undefined;

    requestContext.record.operation = label;
    const executed = run(params, { document, operation }, { requestContext }, holder);
    try {
      const result = await executed;
      if (!result || result.errors) return { executed };
      // Not written before its size is known: what is read for a request may be many times as long.
      return isLongerThan(result, answerLimitBytes) ? { executed } : JSON.stringify(result);
    } catch {
      return { executed };
    }
  };

  return { shortcut, learn };
}

interface Known {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

interface PlainParams {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Record<string, unknown>;
}

const plainMembers: ReadonlySet<string> = new Set(['query', 'operationName', 'variables']);

/** The parameters in a body; undefined when they are unusual. */
function paramsIn(text: string | undefined): PlainParams | undefined {
  try {
    const body = text === undefined ? undefined : parseJSON(text);
    if (!isObject(body) || Object.keys(body).some((name) => !plainMembers.has(name))) return undefined;
    const { query, operationName = null, variables = null } = body;
    if (typeof query !== 'string' || (operationName !== null && typeof operationName !== 'string')) return undefined;
    if (variables !== null && !isObject(variables)) return undefined;
    return { query, operationName: operationName ?? undefined, variables: variables ?? {} };
  } catch {
    return undefined;
  }
}
