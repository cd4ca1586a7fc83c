import { OperationTypeNode, type DocumentNode, type GraphQLSchema, type OperationDefinitionNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Issue } from '../../lib/errors.js';
import { above, limits, parseWithin, rejectAbove, type OperationLimits } from '../operation/limits.js';
import type { OperationCache, PreparedOperation } from '../operation/operation-cache.js';
import { calculateComplexity, type OperationSize } from '../operation/complexity.js';
import type { AuthContext } from '../../credentials/credential.js';
import type { RequestContext } from '../../http/request-context.js';
import type { ServerContext } from '../context.js';

/** The operations that are within the limits of a router alone, and what is above those of other clients. */
const routerOperations = new WeakMap<RequestContext, readonly Issue[]>();

/** Rejects an operation above the limits before it is validated or executed, with or without credentials. */
export function useLimits(operations: OperationCache, maximum: OperationLimits): Plugin {
  return {
    onParse: ({ setParseFn }) => setParseFn(parseWithin),
    // Not a validation rule: the results of those are cached by document, and variables decide how large pages are.
    onValidate({ params, context }) {
      const { operationName, variables = {} } = context.params;
      const prepared = operations.prepare(params.documentAST as DocumentNode, operationName);
      // Yoga rejects a request for an operation that does not exist.
      if (!prepared) return;
      const schema = params.schema as GraphQLSchema;
      const issues = issuesOf(schema, prepared, variables, maximum);
      if (issues.length > 0) {
        const { document, operation } = prepared;
        const size = calculateComplexity(schema, document, operation, variables);
        const aliases = Math.max(maximum.aliases, maximum.routerAliases);
        if (issuesOfSize(size, operation, { ...maximum, aliases }).length > 0) rejectAbove(issues);
        routerOperations.set((context as typeof context & ServerContext).requestContext, issues);
      }
      return ({ valid }) => {
        prepared.isValid = valid;
      };
    },
  };
}

/**
 * Rejects an operation that only a router may send. Called once the credentials are verified.
 *
 * @throws {GraphQLError} INVALID when the service credential does not have the scope `router`.
 */
export function requireRouterIfNeeded(request: RequestContext, { service }: AuthContext): void {
  const issues = routerOperations.get(request);
  if (issues && !service?.scopes?.includes('router')) rejectAbove(issues);
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
  const issues = issuesOfSize(size, operation, maximum);
  prepared.isWithinLimits = issues.length === 0 && !size.isVariable;
  return issues;
}

function issuesOfSize(
  { depth, introspection, aliases, directives, rootFields, cost }: OperationSize,
  operation: OperationDefinitionNode,
  maximum: OperationLimits,
): Issue[] {
  const mutations = operation.operation === OperationTypeNode.MUTATION ? rootFields : 0;
  return [
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
}
