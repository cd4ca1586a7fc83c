import type { DocumentNode, GraphQLSchema } from 'graphql';
import { compileQuery, isCompiledQuery, type CompiledQuery } from 'graphql-jit';
import type { Plugin } from 'graphql-yoga';

/** A plan costs as much as many executions, so that an operation which comes once, or comes differently each time, gets none. */
const executionsBeforePlan = 3;

/** What is known of a document: how often each of its operations has come, and the plan of those that come often. */
type Known = Map<string, { executions: number; plan: CompiledQuery | undefined }>;

/**
 * Executes operations that come again and again by a plan that was compiled for them, and everything else as ever. Plans
 * live as long as the parsed document they are for, and so no more of them than Yoga keeps documents.
 */
export function usePlans(schema: GraphQLSchema): Plugin {
  const documents = new WeakMap<DocumentNode, Known>();

  function planOf(document: DocumentNode, operationName: string | null | undefined): CompiledQuery | undefined {
    const known: Known = documents.get(document) ?? new Map();
    documents.set(document, known);
    const operation = known.get(operationName ?? '') ?? { executions: 0, plan: undefined };
    known.set(operationName ?? '', operation);
    operation.executions += 1;
    if (operation.executions === executionsBeforePlan) operation.plan = compiled(schema, document, operationName);
    return operation.plan;
  }

  return {
    onExecute({ args, setExecuteFn }) {
      if (args.schema !== schema) return;
      const plan = planOf(args.document, args.operationName);
      if (plan) {
        setExecuteFn(({ rootValue, contextValue, variableValues }) =>
          plan.query(rootValue, contextValue, variableValues),
        );
      }
    },
  };
}

/** Undefined where there can be no plan: an operation of a kind that the compiler does not know, or no leave to make code. */
function compiled(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
): CompiledQuery | undefined {
  try {
    const plan = compileQuery(schema, document, operationName ?? undefined);
    return isCompiledQuery(plan) ? plan : undefined;
  } catch {
    return undefined;
  }
}
