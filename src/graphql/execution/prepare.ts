import { GraphQLError, OperationTypeNode, type DocumentNode } from 'graphql';
import { hasPrincipal, type AuthContext } from '../../credentials/credential.js';
import type { RequestContext } from '../../http/request-context.js';
import { AppError, type Issue } from '../../lib/errors.js';
import type { NextStage } from '../../lib/scheduler.js';
import { markNotExecuted, operationError, requestError, withAllow } from '../errors.js';
import { servedSchema } from '../schema/served.js';
import { calculateComplexity, type OperationSize } from './complexity.js';
import { requireIntrospection, type IntrospectionPolicy } from './introspection-policy.js';
import {
  characterIssues,
  countText,
  isRouter,
  limitIssues,
  limits,
  limitsOf,
  parseWithLimits,
  throwIssues,
  tokenIssues,
  type OperationLimits,
  type SizeLimits,
} from './limits.js';
import type { OperationCache, PreparedOperation } from './operation-cache.js';
import type { RequestedOperation } from './params.js';
import { RejectedOperation } from './rejection.js';
import { requirePrincipals } from './root-fields.js';
import { validateDocument, validateLargeDocument } from './validate-document.js';

/** What `prepare` needs. */
export interface PrepareDeps {
  readonly nextStage: NextStage;
  readonly operations: OperationCache;
  readonly introspection: IntrospectionPolicy;
  readonly maximum: OperationLimits;
}

/**
 * Parses and validates the document of an operation, once as long as the cache has it, and applies what depends on the
 * client to each request: the introspection policy and the limits. The limits come first: validating a document above
 * them takes long. Keeps the valid documents of clients with a credential: others cannot fill the cache, nor evict what
 * it has.
 *
 * @throws {GraphQLError} INVALID when the document cannot be parsed, or has no such operation.
 * @throws {RejectedOperation} when the operation may not be executed.
 */
export async function prepare(
  deps: PrepareDeps,
  { query, operationName, variables }: RequestedOperation,
  auth: AuthContext,
  request: Pick<RequestContext, 'method' | 'record'>,
): Promise<PreparedOperation> {
  const { operations, introspection, maximum, nextStage } = deps;
  let document = operations.get(query);
  if (!document) {
    await nextStage();
    document = parseDocument(query, limitsOf(maximum, isRouter(auth)));
  }
  const prepared = operations.prepare(document, operationName);
  if (!prepared) throw requestError(new AppError('INVALID', 'Could not determine what operation to execute.'));
  const { operation } = prepared;
  try {
    if (operation.operation === OperationTypeNode.MUTATION && request.method === 'GET') throw mutationByGET();
    requireIntrospection(introspection, auth, document);
    requireWithinLimits(maximum, prepared, variables, auth);
  } catch (error) {
    throw new RejectedOperation(prepared, [error], { isComplete: true });
  }
  request.record.operation = prepared.label;
  if (prepared.isValid) return prepared;
  const errors =
    query.length > limits.characters
      ? await validateLargeDocument(servedSchema, document, nextStage)
      : validateDocument(servedSchema, document);
  if (errors.length > 0) throw new RejectedOperation(prepared, markNotExecuted({ errors }).errors ?? []);
  prepared.isValid = true;
  if (hasPrincipal(auth)) operations.keep(document);
  return prepared;
}

function parseDocument(text: string, maximum: SizeLimits): DocumentNode {
  try {
    return parseWithLimits(text, undefined, maximum);
  } catch (error) {
    // A document above the limits has a status already.
    throw isSyntaxError(error) ? markNotExecuted({ errors: [error] }).errors?.[0] : error;
  }
}

function isSyntaxError(error: unknown): error is GraphQLError {
  return error instanceof GraphQLError && !('http' in error.extensions);
}

function mutationByGET(): GraphQLError {
  const message = 'Can only perform a mutation operation from a POST request.';
  return withAllow(requestError(new AppError('INVALID', message), 405), 'POST');
}

/**
 * Applies the limits of the client: those of a router, or of all others.
 *
 * @throws {GraphQLError} INVALID above the limits. UNAUTHENTICATED, RATE_LIMITED or UNAVAILABLE for an operation that a
 * router may send, without a credential that it requires: a router forwards the credentials of its clients, and a client
 * without a credential must authenticate, not change its operation.
 */
function requireWithinLimits(
  maximum: OperationLimits,
  prepared: PreparedOperation,
  variables: Readonly<Record<string, unknown>>,
  auth: AuthContext,
): void {
  if (prepared.isWithinLimits) return;
  const size = calculateComplexity(servedSchema, prepared.document, prepared.operation, variables);
  const issues = issuesAbove(limitsOf(maximum, false), prepared, size);
  // Page sizes can depend on variables.
  prepared.isWithinLimits = issues.length === 0 && !size.isVariable;
  if (issues.length === 0) return;
  const issuesForRouter = issuesAbove(limitsOf(maximum, true), prepared, size);
  if (isRouter(auth)) return throwIssues(issuesForRouter);
  if (issuesForRouter.length === 0) requirePrincipalsOf(prepared, auth);
  throwIssues(issues);
}

function requirePrincipalsOf({ rootFields }: PreparedOperation, auth: AuthContext): void {
  try {
    requirePrincipals(rootFields, auth);
  } catch (error) {
    throw error instanceof AppError ? operationError(error) : error;
  }
}

function issuesAbove(
  maximum: SizeLimits,
  { document, operation, tokens }: PreparedOperation,
  { depth, introspection, aliases, directives, rootFields, cost, estimate }: OperationSize,
): readonly Issue[] {
  const mutations = operation.operation === OperationTypeNode.MUTATION ? rootFields : 0;
  return [
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
      (count) =>
        `costs ${count} (the weights of its fields, multiplied by the sizes of the pages around them; ${countText(estimate)} in the units of demand control)`,
    ),
  ].flat();
}
