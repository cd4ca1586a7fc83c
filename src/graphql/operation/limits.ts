import { GraphQLError, parse } from 'graphql';
import { AppError, type Issue } from '../../lib/errors.js';
import { operationError } from '../errors.js';

/** The limits of one operation that settings can change. */
export interface OperationLimits {
  readonly depth: number;
  readonly aliases: number;
  /** The aliases of an operation with a service credential that has the scope `router`. */
  readonly routerAliases: number;
  readonly directives: number;
  readonly mutations: number;
  readonly cost: number;
}

/** The limits of one operation, for every client; the defaults of those that settings can change. */
export const limits = {
  /** Three times our longest operation. Long values belong in variables. */
  characters: 15_000,
  /** Three times our longest operation. Each level has at least one token, so this limits the recursion of the parser. */
  tokens: 1000,
  /** The standard introspection query lists arguments in fields in types. Another list repeats types. */
  introspection: 3,
  /** Our deepest path is orgKeys.edges.node.history.edges.node.changes.path; a router may start further out. */
  depth: 10,
  aliases: 15,
  /** A router merges the operations of its clients for one subgraph, and gives each field an alias. */
  routerAliases: 200,
  directives: 5,
  mutations: 5,
  /** A page of 100 whole keys costs 8,000; a bulk change of 200 with all fields of each, 35,000. */
  cost: 50_000,
} as const satisfies OperationLimits & Record<string, number>;

/**
 * Parses a document.
 *
 * @throws {GraphQLError} INVALID when it has too many characters or tokens, or is not valid.
 */
export const parseWithin: typeof parse = (source, options) => {
  const { length } = typeof source === 'string' ? source : source.body;
  rejectAbove(above('TOO_LONG', length, limits.characters, (count) => `has ${count} characters`));
  try {
    return parse(source, { ...options, maxTokens: limits.tokens });
  } catch (error) {
    const tooMany = `Syntax Error: Document contains more than ${limits.tokens} tokens. Parsing aborted.`;
    if (error instanceof GraphQLError && error.message === tooMany) {
      rejectAbove(above('TOO_MANY', limits.tokens + 1, limits.tokens, () => 'has too many tokens'));
    }
    throw error;
  }
};

/** The issue of a count that is above its limit; none when it is not. */
export function above(
  code: 'TOO_LONG' | 'TOO_DEEP' | 'TOO_MANY',
  found: number,
  max: number,
  describe: (count: string) => string,
): Issue[] {
  if (found <= max) return [];
  const count = found < 1e9 ? found.toLocaleString('en') : 'more than a billion';
  return [{ path: ['query'], code, message: `${describe(count)}; the maximum is ${max.toLocaleString('en')}` }];
}

/** @throws {GraphQLError} INVALID when there are issues. */
export function rejectAbove(issues: readonly Issue[]): void {
  if (issues.length === 0) return;
  const message = `The operation ${issues.map((issue) => issue.message).join(', and ')}.`;
  throw operationError(new AppError('INVALID', message, { issues }));
}
