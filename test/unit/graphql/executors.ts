import { execute, Kind, type ExecutionArgs, type ExecutionResult, type GraphQLSchema } from 'graphql';
import type { Deadline } from '../../../src/graphql/execution/deadline.js';
import { executeCompiled, type Execute } from '../../../src/graphql/execution/executor/execute.js';
import { createOperationCache } from '../../../src/graphql/execution/operation-cache.js';

/** An executor with the signature of graphql-js's `execute`, and a deadline. */
export type ExecuteDocument = (
  args: ExecutionArgs & { readonly deadline?: Deadline },
) => ExecutionResult | Promise<ExecutionResult>;

/** Our executor for documents of a schema. */
export function executorOf(schema: GraphQLSchema, maxFields?: number): ExecuteDocument {
  const operations = createOperationCache(schema, maxFields);
  return ({ document, operationName, variableValues, ...args }) => {
    operations.keep(document);
    const prepared = operations.prepare(document, operationName);
    if (!prepared) throw new Error('The document has no such operation.');
    const { rootValue, contextValue, deadline } = args;
    const given = { variableValues: variableValues ?? {}, rootValue, contextValue, deadline };
    return executeCompiled(prepared.compiled, given);
  };
}

/** An executor of documents, such as that of graphql-js, for a service. */
export function forService(run: ExecuteDocument): Execute {
  return ({ schema, operation, fragments }, args) => {
    const definitions = [operation, ...Object.values(fragments)];
    return run({ schema, document: { kind: Kind.DOCUMENT, definitions }, ...args } as Parameters<ExecuteDocument>[0]);
  };
}

/** The executor of graphql-js. */
export const graphqlJS = execute;
