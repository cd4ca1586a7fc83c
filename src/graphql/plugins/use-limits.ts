import { OperationTypeNode, type DocumentNode, type GraphQLSchema } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Issue } from '../../lib/errors.js';
import { above, limits, parseWithin, rejectAbove, type OperationLimits } from '../operation/limits.js';
import type { OperationCache, PreparedOperation } from '../operation/operation-cache.js';
import { calculateComplexity } from '../operation/complexity.js';

/** Rejects an operation above the limits before it is validated or executed, with or without credentials. */
export function useLimits(operations: OperationCache, maximum: OperationLimits): Plugin {
  return {
    onParse: ({ setParseFn }) => setParseFn(parseWithin),
    // Not a validation rule: the results of those are cached by document, and variables decide how large pages are.
    onValidate({ params, context }) {
      const { operationName, variables } = context.params;
      const prepared = operations.prepare(params.documentAST as DocumentNode, operationName);
      // Yoga rejects a request for an operation that does not exist.
      if (!prepared) return;
      rejectAbove(issuesOf(params.schema as GraphQLSchema, prepared, variables ?? {}, maximum));
      return ({ valid }) => {
        prepared.isValid = valid;
      };
    },
  };
}

/** What is above its limit. Remembers when that does not depend on the variables. */
export function issuesOf(
  schema: GraphQLSchema,
  prepared: PreparedOperation,
  variables: Readonly<Record<string, unknown>>,
  maximum: OperationLimits,
): readonly Issue[] {
  if (prepared.isWithinLimits) return [];
  const { document, operation } = prepared;
  const size = calculateComplexity(schema, document, operation, variables);
  const { depth, introspection, aliases, directives, rootFields, cost, isVariable } = size;
  const mutations = operation.operation === OperationTypeNode.MUTATION ? rootFields : 0;
  const issues = [
    above('TOO_DEEP', depth, maximum.depth, (count) => `nests fields ${count} deep`),
    above('TOO_DEEP', introspection, limits.introspection, (count) => `nests lists of introspection ${count} deep`),
    above('TOO_MANY', aliases, maximum.aliases, (count) => `has ${count} aliases`),
    above('TOO_MANY', directives, maximum.directives, (count) => `has ${count} directives`),
    above('TOO_MANY', mutations, maximum.mutations, (count) => `has ${count} mutations`),
    above(
      'TOO_MANY',
      cost,
      maximum.cost,
      (count) => `costs ${count} (the weights of its fields, multiplied by the sizes of the pages around them)`,
    ),
  ].flat();
  prepared.isWithinLimits = issues.length === 0 && !isVariable;
  return issues;
}
