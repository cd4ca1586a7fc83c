import {
  getOperationAST,
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { ServerContext } from '../context.js';
import { executePlan } from './execute.js';
import { beginPlan, type Plan } from './plan.js';
import type { Signal } from './run.js';

/** Executes an operation, or leaves it to Yoga by answering undefined. */
export type Execute = (args: ExecutionArgs & { readonly signal?: Signal | undefined }) => unknown;

/** Executes what is asked of this schema by plans, unless something else is to execute it. */
export function usePlans(schema: GraphQLSchema, execute: Execute): Plugin {
  return {
    onExecute({ args, context, executeFn, setExecuteFn }) {
      if (args.schema !== schema) return;
      const { executed } = (context as Partial<ServerContext>).begun ?? {};
      setExecuteFn((given: Parameters<Execute>[0]) => {
        const otherwise = () => executeFn(given) as unknown;
        return executed ? executed.then((result) => result ?? otherwise()) : (execute(given) ?? otherwise());
      });
    },
  };
}

/**
 * Executes operations by plans, and keeps the plans within bounds. What plans cannot do is left to Yoga, and so are
 * operations whose variables are refused, because it says why.
 */
export function createPlannedExecute(schema: GraphQLSchema, mostFields = 50_000): Execute {
  // By the node of the operation, which is another one in each document and for each of its operations.
  let plans = new WeakMap<OperationDefinitionNode, Plan | 'none'>();
  let plannedFields = 0;

  // Plans grow while they are executed. To forget all at once is simple, and a new one costs half an execution.
  function onFields(count: number): void {
    plannedFields += count;
    if (plannedFields <= mostFields) return;
    plans = new WeakMap();
    plannedFields = 0;
  }

  function planOf(document: DocumentNode, operation: OperationDefinitionNode): Plan | undefined {
    const known = plans.get(operation);
    if (known) return known === 'none' ? undefined : known;
    const plan = beginPlan(schema, document, operation, onFields);
    plans.set(operation, plan ?? 'none');
    return plan;
  }

  return ({ document, operationName, variableValues: given, rootValue, contextValue, signal }) => {
    const operation = getOperationAST(document, operationName);
    const plan = operation ? planOf(document, operation) : undefined;
    const variableValues = plan?.readVariables(given ?? {});
    return plan && variableValues && executePlan({ plan, rootValue, contextValue, variableValues, signal });
  };
}
