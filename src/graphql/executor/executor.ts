import {
  getVariableValues,
  GraphQLError,
  Kind,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type VariableValues,
} from 'graphql';
import { hasMoreValues } from '../../lib/value-count.js';
import type { Deadline } from '../operation/deadline.js';
import type { CompiledOperation } from './compile.js';
import { executeOperation } from './execute.js';

/** The arguments of graphql-js's `execute`, and values that a caller may have prepared. */
export interface ExecuteArgs extends ExecutionArgs {
  /** Ends the execution. The result then rejects with its error. */
  readonly deadline?: Deadline | undefined;
  /** `variableValues` as `CompiledOperation.coerceVariables` returned them. */
  readonly coercedVariableValues?: VariableValues | undefined;
}

/** Executes an operation as graphql-js's `execute` does. */
export type Execute = (args: ExecuteArgs) => ExecutionResult | Promise<ExecutionResult>;

/** Finds the compiled operation of a document; undefined when the document has none with that name. */
export type FindCompiled = (
  document: DocumentNode,
  operationName: string | null | undefined,
) => CompiledOperation | undefined;

/** graphql-js stops after as many errors in the variables of one request. */
const maxVariableErrors = 50;

/** Variables of more values end after the first error: a message that quotes 12,000 takes 5 ms. */
const largeValues = 500;

/** The executor of operations of one schema, which are compiled by `findCompiled`. */
export function createExecutor(findCompiled: FindCompiled): Execute {
  return ({ document, operationName, variableValues, coercedVariableValues, rootValue, contextValue, deadline }) => {
    const compiled = findCompiled(document, operationName);
    if (!compiled) return { errors: [missingOperation(document, operationName)] };
    const rawVariables = variableValues ?? {};
    const coerced = coercedVariableValues ?? compiled.coerceVariables(rawVariables);
    if (!coerced) return { errors: variableErrors(compiled, rawVariables) };
    return executeOperation({ compiled, rootValue, contextValue, variableValues: coerced, deadline });
  };
}

/** The error for a document without the operation, with the message of graphql-js. */
function missingOperation(document: DocumentNode, operationName: string | null | undefined): GraphQLError {
  if (operationName != null) return new GraphQLError(`Unknown operation named "${operationName}".`);
  const hasAny = document.definitions.some(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  return new GraphQLError(
    hasAny ? 'Must provide operation name if query contains multiple operations.' : 'Must provide an operation.',
  );
}

/** The errors of variables that `coerceVariables` rejected. */
function variableErrors({ schema, operation }: CompiledOperation, rawVariables: ExecutionArgs['variableValues']) {
  const definitions = operation.variableDefinitions ?? [];
  // Each message quotes the whole variable; masking removes it later.
  const maxErrors = hasMoreValues(rawVariables, largeValues) ? 1 : maxVariableErrors;
  const { errors } = getVariableValues(schema, definitions, rawVariables ?? {}, { maxErrors });
  // Both coerce by the same rules, as test/unit/graphql/executor.test.ts verifies.
  if (!errors) throw new Error('graphql-js accepts variables that the executor rejected.');
  return errors;
}
