import { OperationTypeNode, type DocumentNode, type GraphQLSchema, type ParseOptions, type Source } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { AppError, type Issue } from '../../lib/errors.js';
import {
  limitIssues,
  characterIssues,
  tokenIssues,
  isRouter,
  limits,
  limitsOf,
  parseWithLimits,
  throwIssues,
  type OperationLimits,
  type SizeLimits,
} from '../execution/limits.js';
import type { OperationCache, PreparedOperation } from '../execution/operation-cache.js';
import { requirePrincipals, rootFieldsOf } from '../execution/root-fields.js';
import { calculateComplexity } from '../execution/complexity.js';
import { hasPrincipal, type AuthContext } from '../../credentials/credential.js';
import type { Context, ServerContext } from '../context.js';
import { operationError } from '../errors.js';

const anonymous: AuthContext = {};

/**
 * Rejects an operation above the limits before it is validated or executed, with or without credentials. Keeps the valid
 * documents of clients with a credential: others cannot fill the cache, nor evict what it has.
 */
export function useLimits(
  operations: OperationCache,
  maximum: OperationLimits,
  nextSlice: Context['nextSlice'],
): Plugin<object, ServerContext> {
  const clientLimits = limitsOf(maximum, false);
  const routerLimits = limitsOf(maximum, true);
  const authContexts = new WeakMap<object, AuthContext>();
  const isFromRouter = (context: object) => isRouter(authContexts.get(context) ?? anonymous);
  const parsedEarly = new WeakMap<object, DocumentNode>();
  return {
    // Before the document is parsed: only the credential of a router permits large documents.
    async onParams({ context, params: { query } }) {
      const auth = await context.requestContext.principal().catch(() => undefined);
      if (auth) authContexts.set(context, auth);
      if (typeof query !== 'string' || query.length <= limits.characters || !isFromRouter(context)) return;
      if (operations.get(query)) return;
      try {
        parsedEarly.set(context, parseWithLimits(query, undefined, routerLimits));
      } catch {
        // Yoga reports it when it parses the document again.
      }
      // Yoga parses and validates in one tick, which takes too long for a large document.
      await nextSlice();
    },
    onParse({ context, setParseFn }) {
      const sizeLimits = isFromRouter(context) ? routerLimits : clientLimits;
      setParseFn(
        (source: string | Source, options?: ParseOptions) =>
          parsedEarly.get(context) ?? parseWithLimits(source, options, sizeLimits),
      );
    },
    // Not a validation rule: Yoga caches the results of rules by document, and page sizes depend on variables.
    onValidate({ params, context }) {
      const { operationName, variables = {} } = context.params;
      const prepared = operations.prepare(params.documentAST as DocumentNode, operationName);
      // Yoga rejects a request for an operation that does not exist.
      if (!prepared) return;
      const schema = params.schema as GraphQLSchema;
      const issuesForRouter = () => issuesWithin(schema, prepared, variables, routerLimits).issues;
      if (isFromRouter(context)) throwIssues(issuesForRouter());
      else {
        const issues = issuesOf(schema, prepared, variables, clientLimits);
        if (issues.length > 0 && issuesForRouter().length === 0) {
          requirePrincipalsOf(schema, prepared, authContexts.get(context));
        }
        throwIssues(issues);
      }
      return ({ valid }) => {
        prepared.isValid = valid;
        if (valid && hasPrincipal(authContexts.get(context) ?? anonymous)) operations.keep(prepared.document);
      };
    },
  };
}

/**
 * Requires the credentials of the operation before its limits apply: a router forwards the credentials of its clients,
 * and a client without a credential must authenticate, not change its operation.
 *
 * @throws {GraphQLError} UNAUTHENTICATED, RATE_LIMITED or UNAVAILABLE without a credential that a root field requires.
 */
function requirePrincipalsOf(schema: GraphQLSchema, { document, operation }: PreparedOperation, auth = anonymous) {
  const requested = rootFieldsOf(schema, { document, operationName: operation.name?.value });
  try {
    if (requested) requirePrincipals(requested, auth);
  } catch (error) {
    throw error instanceof AppError ? operationError(error) : error;
  }
}

/** Returns the issues above the limits of every client. Caches their absence if it does not depend on variables. */
export function issuesOf(
  schema: GraphQLSchema,
  prepared: PreparedOperation,
  variables: Readonly<Record<string, unknown>>,
  maximum: SizeLimits,
): readonly Issue[] {
  if (prepared.isWithinLimits) return [];
  const { issues, isVariable } = issuesWithin(schema, prepared, variables, maximum);
  prepared.isWithinLimits = issues.length === 0 && !isVariable;
  return issues;
}

function issuesWithin(
  schema: GraphQLSchema,
  { document, operation, tokens }: PreparedOperation,
  variables: Readonly<Record<string, unknown>>,
  maximum: SizeLimits,
): { readonly issues: readonly Issue[]; readonly isVariable: boolean } {
  const size = calculateComplexity(schema, document, operation, variables);
  const { depth, introspection, aliases, directives, rootFields, cost, isVariable } = size;
  const mutations = operation.operation === OperationTypeNode.MUTATION ? rootFields : 0;
  const issues = [
    // The cached document may be from a router, which may send larger documents.
    characterIssues(document.loc?.source.body.length ?? 0, maximum.characters),
    tokenIssues(tokens, maximum.tokens),
    limitIssues('TOO_DEEP', depth, maximum.depth, (count) => `nests fields ${count} deep`),
    limitIssues(
      'TOO_DEEP',
      introspection,
      limits.introspection,
      (count) => `nests lists of introspection ${count} deep`,
    ),
    limitIssues('TOO_MANY', aliases, maximum.aliases, (count) => `has ${count} aliases`),
    limitIssues('TOO_MANY', directives, maximum.directives, (count) => `has ${count} directives`),
    limitIssues('TOO_MANY', mutations, maximum.mutations, (count) => `has ${count} mutations`),
    limitIssues(
      'TOO_MANY',
      cost,
      maximum.cost,
      (count) => `costs ${count} (the weights of its fields, multiplied by the sizes of the pages around them)`,
    ),
  ].flat();
  return { issues, isVariable };
}
