import { OperationTypeNode } from 'graphql';
import type { Holder } from '../credential.js';
import { readBody } from '../http/body.js';
import type { RequestContext } from '../http/request-context.js';
import { isObject, parseJSON } from '../lib/json.js';
import { answerLimitBytes, isLongerThan } from './answer-size.js';
import type { Begun, Context, ServerContext } from './context.js';
import type { Execute } from './executor/executor.js';
import type { OperationCache, PreparedOperation } from './operation-cache.js';
import { startDeadline } from './plugins/use-deadline.js';
import { bodyLimitBytes } from './request.js';
import { servedSchema } from './served-schema.js';

/**
 * Answers a request whose operation Yoga has executed before, whoever asked for it then: with JSON where there is no
 * error in it. Otherwise it returns what it has executed, if anything, and Yoga completes the response, so that there is one
 * way to reject a request and one to respond with an error.
 */
export type Shortcut = (request: RequestContext) => Promise<string | Begun | undefined>;

interface Parts {
  readonly operations: OperationCache;
  /** Whether a holder may ask anything. */
  readonly mayAsk: (holder: Holder) => boolean;
  readonly contextOf: (asked: ServerContext, holder: Holder) => Context;
  readonly execute: Execute;
  readonly deadlineMs: number;
}

/** The shortcut for operations that Yoga has validated before. */
export function createShortcut({ operations, mayAsk, contextOf, execute, deadlineMs }: Parts): Shortcut {
  /** What an operation comes to; undefined where Yoga has to execute it, or to say why it does not. */
  async function run(params: PlainParams, known: PreparedOperation, asked: ServerContext, holder: Holder) {
    const coercedVariableValues = known.compiled.coerceVariables(params.variables);
    if (!coercedVariableValues) return undefined;
    const isMutation = known.operation.operation === OperationTypeNode.MUTATION;
    const context = contextOf(asked, holder);
    const deadline = startDeadline(deadlineMs, isMutation);
    try {
      const result = execute({
        schema: servedSchema,
        document: known.document,
        operationName: params.operationName,
        variableValues: params.variables,
        contextValue: isMutation ? { ...context, deadline } : context,
        deadline: isMutation ? undefined : deadline,
        coercedVariableValues,
      });
      return await result;
    } finally {
      deadline.clear();
    }
  }

  const shortcut: Shortcut = async (requestContext) => {
    const params = paramsIn(await readBody(requestContext, bodyLimitBytes).catch(() => undefined));
    const known = params && operations.find(params.query, params.operationName);
    if (!params || !known?.isValid || !known.isWithinLimits) return undefined;

    const holder = await requestContext.principal().catch(() => undefined);
    if (!holder || !mayAsk(holder)) return undefined;

    requestContext.record.operation = known.label;
    const executed = run(params, known, { requestContext }, holder);
    try {
      const result = await executed;
      if (!result || result.errors) return { executed };
      // Not written before its size is known: what is read for a request may be many times as long.
      return isLongerThan(result, answerLimitBytes) ? { executed } : JSON.stringify(result);
    } catch {
      return { executed };
    }
  };

  return shortcut;
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
