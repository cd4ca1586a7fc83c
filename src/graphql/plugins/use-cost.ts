import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { isAsyncIterable } from 'graphql-yoga';
import { calculateComplexity } from '../execution/complexity.js';
import type { Context } from '../context.js';
import { isCostRequested } from '../execution/params.js';
import { isRouter, limitsOf, type OperationLimits } from '../execution/limits.js';
import type { OperationCache } from '../execution/operation-cache.js';

/** The cost of an operation, in `extensions.cost` of its response. */
interface OperationCost {
  readonly requested: number;
  readonly maximum: number;
  /** The maximum minus the requested cost. */
  readonly remaining: number;
}

/** Adds the cost of an operation to its response if the request has `extensions.cost`. */
export function useCost(operations: OperationCache, limits: OperationLimits): Plugin {
  return {
    onExecute({ args }) {
      const { contextValue, schema, document, operationName, variableValues } = args as unknown as {
        readonly contextValue: Pick<Context, 'auth'> & { readonly params: GraphQLParams };
        readonly schema: GraphQLSchema;
        readonly document: DocumentNode;
        readonly operationName?: string;
        readonly variableValues?: Readonly<Record<string, unknown>>;
      };
      const prepared = isCostRequested(contextValue.params) && operations.prepare(document, operationName);
      if (!prepared) return;
      const { cost: requested } = calculateComplexity(schema, document, prepared.operation, variableValues ?? {});
      const { cost: maximum } = limitsOf(limits, isRouter(contextValue.auth));
      const cost: OperationCost = { requested, maximum, remaining: maximum - requested };
      return {
        onExecuteDone: ({ result, setResult }) => {
          if (!isAsyncIterable(result)) setResult({ ...result, extensions: { ...result.extensions, cost } });
        },
      };
    },
  };
}
