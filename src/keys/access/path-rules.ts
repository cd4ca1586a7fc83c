import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';

/*
 * Matches the paths of requests with patterns of definitions. The engine needs time that is linear in the size of the pattern
 * and the length of the path, so that limits on both bound the time of a decision.
 */

/** Maximum number of characters of a path that is matched with patterns. */
export const maxPathLength = 2048;

/** Maximum number of instructions of a compiled pattern. The engine has another algorithm above 500. */
const maxPatternSize = 500;

/** Maximum work of one decision: 0.5 to 2 ms, with all patterns compiled anew. */
export const maxPathWork = 200_000;

/** To compile an instruction takes as long as to match this many characters with it. */
const charactersToCompile = 100;

/** Why a pattern is not evaluated. */
export type PatternProblem = 'TOO_LARGE' | 'MALFORMED';

interface CompiledPattern {
  /** Absent if there is a problem. */
  readonly pattern?: RE2JS;
  readonly problem?: PatternProblem;
  /** Instructions of the pattern; if there is a problem, of what was compiled to find it. */
  readonly size: number;
}

const compiled = new LRUCache<string, CompiledPattern>({ max: 5000 });

/** Returns why a pattern of a definition permits no path; undefined if it can permit one. */
export function patternProblem(pattern: string): PatternProblem | undefined {
  return isPlain(pattern) ? undefined : compile(pattern).problem;
}

/** An upper bound of the instructions that `patternProblem` compiles for a pattern. */
export function sizeToCheck(pattern: string): number {
  return isPlain(pattern) ? 0 : Math.min(estimatedSize(pattern), maxPatternSize);
}

/** A path that patterns can be matched with. */
export interface MatchablePath {
  readonly text: string;
}

/**
 * Returns the path of a request for the patterns: without its query, with percent-encoding decoded once. Returns undefined for
 * a path that a server may resolve to another one, or that is not a path: it matches no pattern.
 */
export function matchablePath(path: string): MatchablePath | undefined {
  const end = path.search(/[?#]/);
  const encoded = end < 0 ? path : path.slice(0, end);
  if (!encoded.startsWith('/') || encoded.length > maxPathLength) return undefined;
  let text: string;
  try {
    text = decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
  if (/[\p{Cc}\\]/u.test(text)) return undefined;
  return text.split('/').some((segment) => segment === '.' || segment === '..') ? undefined : { text };
}

/** The rule that matches a path, or why there is none. */
export interface Match<Rule> {
  readonly rule: Rule | undefined;
  /** Whether each rule before it could be evaluated. */
  readonly isComplete: boolean;
  /** Instructions, times the characters of the path and those that compiling takes. */
  readonly work: number;
}

/** Returns the first rule whose pattern matches from the start of the path. */
export function findMatch<Rule extends { readonly url: string }>(
  rules: Iterable<Rule>,
  { text }: MatchablePath,
): Match<Rule> {
  let work = 0;
  let isComplete = true;
  for (const rule of rules) {
    // Most patterns start with characters that the path must have. They need no engine.
    if (!text.startsWith(literalPrefix(rule.url))) continue;
    // A pattern that is compiled already counts as much as another, so that a decision does not depend on those before it.
    const { pattern, size } = compile(rule.url);
    work += size * ((pattern ? text.length : 0) + charactersToCompile);
    if (work > maxPathWork) return { rule: undefined, isComplete: false, work };
    if (pattern?.matcher(text).lookingAt() === true) return { rule, isComplete, work };
    if (!pattern) isComplete = false;
  }
  return { rule: undefined, isComplete, work };
}

function compile(pattern: string): CompiledPattern {
  const cached = compiled.get(pattern);
  if (cached) return cached;
  const result = compileAnew(pattern);
  compiled.set(pattern, result);
  return result;
}

function compileAnew(pattern: string): CompiledPattern {
  const size = estimatedSize(pattern);
  if (size > maxPatternSize) return { problem: 'TOO_LARGE', size: Math.ceil(pattern.length / 50) };
  try {
    // Unicode classes compile to hundreds of ranges.
    const engine = RE2JS.compile(pattern, RE2JS.DISABLE_UNICODE_GROUPS);
    const compiledSize = engine.programSize();
    return compiledSize > maxPatternSize
      ? { problem: 'TOO_LARGE', size: compiledSize }
      : { pattern: engine, size: compiledSize };
  } catch {
    return { problem: 'MALFORMED', size };
  }
}

/** A path as it is, perhaps with anything after it. */
function isPlain(pattern: string): boolean {
  return pattern.length <= 256 && /^\^?[\w\-/~%@:,;=&!' ]*(\.\*)?\$?$/.test(pattern);
}

/** Returns the characters that every path which matches the pattern starts with. */
function literalPrefix(pattern: string): string {
  // A choice can offer another start.
  if (pattern.includes('|')) return '';
  const start = pattern.startsWith('^') ? 1 : 0;
  let end = start;
  while (end < pattern.length && !'\\.+*?()[]{}^$'.includes(pattern.charAt(end))) end++;
  // The last character may be optional.
  if (end > start && '*?{'.includes(pattern.charAt(end)) && end < pattern.length) end--;
  return pattern.slice(start, end);
}

/** Adds one instruction for each character and group, times the repetitions around it. */
function estimatedSize(pattern: string): number {
  const groups = [0];
  let last = 0;
  const add = (size: number) => {
    last = size;
    groups.push((groups.pop() ?? 0) + size);
  };
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern.charAt(at);
    if (character === '(') groups.push(2);
    else if (character === ')') add(groups.length > 1 ? (groups.pop() ?? 0) : 1);
    else if (character === '[') {
      at = endOfClass(pattern, at);
      add(1);
    } else if (character === '\\') {
      at++;
      add(1);
    } else if (character === '{') {
      const [text, from = '', to = ''] = /^\{(\d{1,6})(?:,(\d{0,6}))?\}/.exec(pattern.slice(at, at + 16)) ?? [];
      if (text === undefined) add(1);
      else {
        // An optional repetition has an instruction of its own.
        const repetitions = Math.max(Number(from), Number(to)) + 1;
        const size = last;
        add((size + 1) * repetitions);
        last += size;
        at += text.length - 1;
      }
    } else add(1);
  }
  return groups.reduce((sum, size) => sum + size, 0);
}

/** The index of the bracket that ends the class of characters that starts here. */
function endOfClass(pattern: string, start: number): number {
  let at = start + 1;
  if (pattern.charAt(at) === '^') at++;
  if (pattern.charAt(at) === ']') at++;
  while (at < pattern.length && pattern.charAt(at) !== ']') at += pattern.charAt(at) === '\\' ? 2 : 1;
  return at;
}
