import { GraphQLError, parse, TokenKind, type DocumentNode, type ParseOptions, type Source } from 'graphql';
import type { AuthContext } from '../../credentials/credential.js';
import { hasScope } from '../../keys/authorization.js';
import { AppError, type Issue } from '../../lib/errors.js';
import { operationError } from '../errors.js';

/** The limits of one operation that settings can change. */
export interface OperationLimits {
  readonly depth: number;
  readonly aliases: number;
  readonly directives: number;
  readonly mutations: number;
  readonly cost: number;
  /** How many operations a router may merge into one: the factor of all limits but the depth, for the scope `router`. */
  readonly routerFactor: number;
}

/** The limits of the operations of one client. */
export interface SizeLimits extends Omit<OperationLimits, 'routerFactor'> {
  readonly characters: number;
  readonly tokens: number;
}

/** The default limits of one operation. Settings can change those of `OperationLimits`. */
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
  directives: 5,
  mutations: 5,
  /** A page of 100 whole keys costs 8,000; a bulk change of 200 with all fields of each, 35,000. */
  cost: 50_000,
  routerFactor: 10,
} as const satisfies OperationLimits & Record<string, number>;

/** Whether the client is a router, which merges operations. */
export function isRouter({ service }: AuthContext): boolean {
  return service !== undefined && hasScope(service, 'router');
}

/** The limits of the operations of a router, or of another client. Merging operations does not make them deeper. */
export function limitsOf({ routerFactor, depth, ...maximum }: OperationLimits, forRouter: boolean): SizeLimits {
  const factor = forRouter ? routerFactor : 1;
  return {
    depth,
    characters: limits.characters * factor,
    tokens: limits.tokens * factor,
    aliases: maximum.aliases * factor,
    directives: maximum.directives * factor,
    mutations: maximum.mutations * factor,
    cost: maximum.cost * factor,
  };
}

/**
 * Parses a document.
 *
 * @throws {GraphQLError} INVALID when it has too many characters or tokens, is nested too deeply, or is not valid.
 */
export function parseWithLimits(
  source: string | Source,
  options?: ParseOptions,
  { characters, tokens }: Pick<SizeLimits, 'characters' | 'tokens'> = limits,
): DocumentNode {
  const { length } = typeof source === 'string' ? source : source.body;
  throwIssues(characterIssues(length, characters));
  try {
    const document = parse(source, { ...options, maxTokens: tokens });
    // Recursive functions check the other limits.
    if (tokens > limits.tokens && nestingOf(document) > limits.tokens / 2) throw new RangeError();
    return document;
  } catch (error) {
    const tooMany = `Syntax Error: Document contains more than ${tokens} tokens. Parsing aborted.`;
    if (error instanceof GraphQLError && error.message === tooMany) throwIssues(tokenIssues(tokens + 1, tokens));
    // A stack overflow of the recursive parser.
    if (error instanceof RangeError) {
      throwIssues([{ path: ['query'], code: 'TOO_DEEP', message: 'is nested too deeply' }]);
    }
    throw error;
  }
}

const uncountedKinds: readonly string[] = [TokenKind.SOF, TokenKind.EOF, TokenKind.COMMENT];

/** The number of tokens of a document that was parsed with locations. */
export function tokensOf({ loc }: DocumentNode): number {
  let count = 0;
  for (let token = loc?.startToken; token; token = token.next ?? undefined) {
    if (!uncountedKinds.includes(token.kind)) count += 1;
  }
  return count;
}

/** Returns the issue of a number of characters above its limit. */
export function characterIssues(count: number, max: number): Issue[] {
  return limitIssues('TOO_LONG', count, max, (text) => `has ${text} characters`);
}

/** Returns the issue of a number of tokens above its limit. */
export function tokenIssues(count: number, max: number): Issue[] {
  return limitIssues('TOO_MANY', count, max, () => 'has too many tokens');
}

/** The nesting depth of braces, brackets and parentheses. */
function nestingOf({ loc }: DocumentNode): number {
  const opening: readonly string[] = [TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L];
  const closing: readonly string[] = [TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R];
  let depth = 0;
  let maxDepth = 0;
  for (let token = loc?.startToken; token; token = token.next ?? undefined) {
    if (opening.includes(token.kind)) depth += 1;
    if (closing.includes(token.kind)) depth -= 1;
    maxDepth = Math.max(maxDepth, depth);
  }
  return maxDepth;
}

/** Returns the issue of a count above its limit; none for a smaller count. */
export function limitIssues(
  code: 'TOO_LONG' | 'TOO_DEEP' | 'TOO_MANY',
  count: number,
  max: number,
  describe: (text: string) => string,
): Issue[] {
  if (count <= max) return [];
  return [{ path: ['query'], code, message: `${describe(countText(count))}; the maximum is ${countText(max)}` }];
}

/** Formats a count, which may be Infinity. */
export function countText(count: number): string {
  return count < 1e9 ? count.toLocaleString('en') : 'more than a billion';
}

/** @throws {GraphQLError} INVALID when there are issues. */
export function throwIssues(issues: readonly Issue[]): void {
  if (issues.length === 0) return;
  const message = `The operation ${issues.map((issue) => issue.message).join(', and ')}.`;
  throw operationError(new AppError('INVALID', message, { issues }));
}
