import {
  getOperationAST,
  GraphQLError,
  OperationTypeNode,
  parse,
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { AppError, type Issue } from '../lib/errors.js';
import { operationError } from './errors.js';
import { sizeOfOperation } from './operation-size.js';

/** What one operation may be, whoever sends it. */
export const limits = {
  /** Three times our longest operation. Long values belong into variables. */
  characters: 15_000,
  /** Thrice as well. Bounds, at a token a level, how deep the parser goes and whoever walks its document. */
  tokens: 1000,
  /** Our longest way is orgKeys.edges.node.history.edges.node.changes.path; a router may come from further out. */
  depth: 10,
  /** The standard introspection query lists arguments in fields in types. One list more leads round in circles. */
  introspection: 3,
  aliases: 15,
  directives: 5,
  mutations: 5,
  /** A page of 100 whole keys costs 8,000; a bulk change of 200 that asks for all there is about each, 35,000. */
  cost: 50_000,
} as const;

/** Refuses what is beyond the limits before any of it is validated or executed. No credential spares anyone. */
export const useLimits: Plugin = {
  onParse: ({ setParseFn }) => setParseFn(parseWithin),
  onValidate({ params, context }) {
    // No validation rule could do it: their verdict is kept by document, and pages are as large as variables say.
    refuse(problemsOf(params.schema as GraphQLSchema, params.documentAST as DocumentNode, context.params));
  },
};

/** Parses a document. Throws where it is longer than any may be, or has more tokens. */
export const parseWithin: typeof parse = (source, options) => {
  const { length } = typeof source === 'string' ? source : source.body;
  refuse(beyond('TOO_LONG', length, limits.characters, (count) => `has ${count} characters`));
  try {
    return parse(source, { ...options, maxTokens: limits.tokens });
  } catch (error) {
    const tooMany = `Syntax Error: Document contains more that ${limits.tokens} tokens. Parsing aborted.`;
    if (error instanceof GraphQLError && error.message === tooMany) {
      refuse(beyond('TOO_MANY', limits.tokens + 1, limits.tokens, () => 'has too many words, brackets and values'));
    }
    throw error;
  }
};

/** By the node of the operation, of which there is one for each of a document that is kept. */
const withinLimits = new WeakSet<OperationDefinitionNode>();

/** Whether an operation is within the limits whatever its variables are, as far as that is known by now. */
export const isWithinLimits = (operation: OperationDefinitionNode): boolean => withinLimits.has(operation);

function problemsOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operationName, variables }: GraphQLParams,
): Issue[] {
  const operation = getOperationAST(document, operationName);
  // An operation that is not there is not executed either, and GraphQL says so.
  if (!operation || withinLimits.has(operation)) return [];
  const { depth, introspection, aliases, directives, rootFields, cost, isVariable } = sizeOfOperation(
    schema,
    document,
    operation,
    variables ?? {},
  );
  const mutations = operation.operation === OperationTypeNode.MUTATION ? rootFields : 0;
  const problems = [
    beyond('TOO_DEEP', depth, limits.depth, (count) => `nests fields ${count} deep`),
    beyond('TOO_DEEP', introspection, limits.introspection, (count) => `nests lists of introspection ${count} deep`),
    beyond('TOO_MANY', aliases, limits.aliases, (count) => `has ${count} aliases`),
    beyond('TOO_MANY', directives, limits.directives, (count) => `has ${count} directives`),
    beyond('TOO_MANY', mutations, limits.mutations, (count) => `has ${count} mutations`),
    beyond('TOO_MANY', cost, limits.cost, (count) => `costs ${count} (one for each field, times the pages it lies in)`),
  ].flat();
  if (!isVariable && problems.length === 0) withinLimits.add(operation);
  return problems;
}

/** The problem of a count that is above its limit, which it names; none where it is not. */
function beyond(
  code: 'TOO_LONG' | 'TOO_DEEP' | 'TOO_MANY',
  found: number,
  most: number,
  says: (count: string) => string,
): Issue[] {
  if (found <= most) return [];
  const count = found < 1e9 ? found.toLocaleString('en') : 'more than a billion';
  return [{ path: ['query'], code, message: `${says(count)}; ${most.toLocaleString('en')} is the most` }];
}

function refuse(problems: readonly Issue[]): void {
  if (problems.length === 0) return;
  const message = `The operation ${problems.map((problem) => problem.message).join(', and ')}.`;
  throw operationError(new AppError('INVALID', message, { issues: problems }));
}
