import { AppError } from './errors.js';
import type { Path } from './errors.js';

declare global {
  interface JSON {
    /** A value that `JSON.stringify` writes as this text. TypeScript does not declare it yet. */
    rawJSON(text: string): object;
  }
}

/** A value of JSON. An integer that is not exact as a double is a bigint; every other number is a number. */
export type JSONValue = null | boolean | number | bigint | string | JSONValue[] | { [name: string]: JSONValue };

/** Maximum nesting depth of arrays and objects, including the outermost one. */
export const maxJSONDepth = 64;

/** Whether a value is an object and not a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An integer from this magnitude on is the nearest double, so that a token such as 1e300 is not a huge bigint. */
const exactIntegerLimit = 1e40;

/** Decimals of up to this many digits are exact as doubles, so that shorter tokens need no check. */
const safeDigits = 15;

/** In V8, a slice of at least this length shares the memory of its text. */
const minSharedLength = 13;

const quote = 0x22;
const point = 0x2e;
const digitNine = 0x39;
const colon = 0x3a;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const digitZero = 0x30;
const letterA = 0x61;
const letterE = 0x65;
const letterF = 0x66;
const letterU = 0x75;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const caseBit = 0x20;

/**
 * Parses a JSON text without silent loss. `__proto__` becomes an own property.
 *
 * @throws {AppError} INVALID with one issue: MALFORMED_JSON, DUPLICATE_MEMBER, TOO_DEEP, OUT_OF_RANGE or IMPRECISE.
 */
export function parseJSON(text: string): JSONValue {
  const value = parseNatively(text);
  return value === undefined ? parseJSONCarefully(text) : value;
}

/** parseJSON without its fast path. Exported for tests that compare the two. */
export function parseJSONCarefully(text: string): JSONValue {
  return new CarefulParser(text).parse();
}

/**
 * Serializes like JSON.stringify, but with all digits of integers: bigints, and numbers below 1e40.
 *
 * @throws {TypeError} for a value without a JSON form, such as undefined, a function or a circular structure.
 */
export function stringifyJSON(value: unknown, indent?: number): string {
  const text: string | undefined = JSON.stringify(withExactIntegers(value), undefined, indent);
  if (text === undefined) throw new TypeError('JSON has no form for this value.');
  return text;
}

/**
 * Whether a member of the text has an escaped name, which JSON.parse may return as another name on Node 24 and 26
 * (https://github.com/nodejs/node/issues/63785). Exact for a valid text.
 */
export function hasEscapedName(text: string): boolean {
  if (!text.includes('\\')) return false;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) {
    const end = closingQuote(text, at);
    if (end === -1) return false;
    if (isName(text, end) && text.slice(at, end).includes('\\')) return true;
    at = end;
  }
  return false;
}

/** Whether the string whose closing quote is at `end` is the name of a member. */
function isName(text: string, end: number): boolean {
  let at = end + 1;
  while (isSpace(text.charCodeAt(at))) at++;
  return text.charCodeAt(at) === colon;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Returns the result of JSON.parse if it is known to be exact; undefined if the text needs the careful parser. */
function parseNatively(text: string): JSONValue | undefined {
  const names = countUnescapedNames(text);
  if (names === undefined) return undefined;
  try {
    const value = JSON.parse(text) as JSONValue;
    // A repeated name overwrites its first value, so the text then has more names than the value has members.
    return countMembers(value) === names ? value : undefined;
  } catch {
    // V8's message quotes the text, and the careful parser's does not.
    return undefined;
  }
}

/**
 * Counts the member names of a text; undefined if the text needs the careful parser, for example for names with escapes
 * (`hasEscapedName`). The count is correct only for a text that JSON.parse accepts.
 */
function countUnescapedNames(text: string): number | undefined {
  let names = 0;
  let depth = 0;
  let digits = 0;
  let stringEnd = 0;
  // The first backslash after the start of the last string. GraphQL documents have an escape for each line break.
  let escape = nextEscape(text, 0);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= point && code <= digitNine) {
      if (++digits > safeDigits) return undefined;
      continue;
    }
    if (code === quote) {
      if (escape < at) escape = nextEscape(text, at);
      at = closingQuote(text, at);
      if (at === -1) return undefined;
      stringEnd = at;
    } else if (code === colon) {
      // The string before a colon is a name.
      if (escape < stringEnd) return undefined;
      names++;
    } else if (code === openBrace || code === openBracket) {
      if (++depth > maxJSONDepth) return undefined;
    } else if (code === closeBrace || code === closeBracket) {
      depth--;
    } else if (digits > 0 && (code | caseBit) === letterE) {
      return undefined;
    }
    digits = 0;
  }
  return names;
}

function nextEscape(text: string, from: number): number {
  const at = text.indexOf('\\', from);
  return at === -1 ? text.length : at;
}

/** The position of the quote that ends the string opened at `start`, or -1. */
function closingQuote(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    // An odd number of backslashes before a quote makes it part of the string.
    let before = end;
    while (text.charCodeAt(before - 1) === backslash) before--;
    if ((end - before) % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return -1;
}

/** Recurses at most maxJSONDepth levels, which countUnescapedNames has checked. */
function countMembers(value: JSONValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') members += countMembers(item);
    return members;
  }
  // `Object.values` takes twice as long as `Object.keys`.
  for (const name of Object.keys(value)) {
    members++;
    const member = value[name];
    if (typeof member === 'object') members += countMembers(member);
  }
  return members;
}

const dataProperty = { configurable: true, enumerable: true, writable: true };

class CarefulParser {
  readonly #text: string;
  readonly #path: (string | number)[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): JSONValue {
    const value = this.#value();
    if (this.#at < this.#text.length) throw this.#malformed();
    return value;
  }

  /** Reads one value with the white space around it. */
  #value(): JSONValue {
    this.#skipSpace();
    const value = this.#bareValue();
    this.#skipSpace();
    return value;
  }

  #bareValue(): JSONValue {
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object();
      case '[':
        return this.#array();
      case '"':
        return this.#string();
      case 't':
        return this.#literal('true', true);
      case 'f':
        return this.#literal('false', false);
      case 'n':
        return this.#literal('null', null);
      default:
        return this.#number();
    }
  }

  #object(): JSONValue {
    this.#enter();
    const members: { [name: string]: JSONValue } = {};
    this.#skipSpace();
    if (this.#take('}')) return members;
    do {
      this.#skipSpace();
      if (this.#text[this.#at] !== '"') throw this.#malformed();
      const name = this.#string();
      this.#path.push(name);
      if (Object.hasOwn(members, name)) {
        throw invalidBodyError(this.#path, 'DUPLICATE_MEMBER', 'occurs more than once in its object');
      }
      this.#skipSpace();
      if (!this.#take(':')) throw this.#malformed();
      const value = this.#value();
      // An assignment to this name sets the prototype.
      if (name === '__proto__') Object.defineProperty(members, name, { ...dataProperty, value });
      else members[name] = value;
      this.#path.pop();
    } while (this.#take(','));
    if (!this.#take('}')) throw this.#malformed();
    return members;
  }

  #array(): JSONValue {
    this.#enter();
    const items: JSONValue[] = [];
    this.#skipSpace();
    if (this.#take(']')) return items;
    do {
      this.#path.push(items.length);
      items.push(this.#value());
      this.#path.pop();
    } while (this.#take(','));
    if (!this.#take(']')) throw this.#malformed();
    return items;
  }

  /** Skips an opening bracket. The path has one segment for each enclosing array or object. */
  #enter(): void {
    if (this.#path.length >= maxJSONDepth) {
      throw invalidBodyError([], 'TOO_DEEP', `is nested more than ${maxJSONDepth} levels deep`);
    }
    this.#at++;
  }

  #string(): string {
    const start = this.#at;
    let hasEscape = false;
    for (;;) {
      this.#at++;
      const code = this.#text.charCodeAt(this.#at);
      if (code === quote) break;
      if (code === backslash) {
        hasEscape = true;
        this.#skipEscape();
      } else if (!(code >= 0x20)) {
        // A bare control character, or the end of the text, where the code is NaN.
        throw this.#malformed();
      }
    }
    this.#at++;
    // V8 copies short slices. A long slice would keep the whole text in memory while a cache keeps the query in it.
    if (!hasEscape && this.#at - start < minSharedLength) return this.#text.slice(start + 1, this.#at - 1);
    // The token is valid, so JSON.parse only resolves its escapes, and copies it.
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  /** Skips from a backslash to the last character of its escape sequence. */
  #skipEscape(): void {
    const code = this.#text.charCodeAt(this.#at + 1);
    const length = code === letterU ? 6 : 2;
    const isValid = code === letterU ? this.#hasHexDigits(this.#at + 2) : shortEscapes.has(code);
    if (!isValid) throw this.#malformed();
    this.#at += length - 1;
  }

  #hasHexDigits(from: number): boolean {
    for (let at = from; at < from + 4; at++) {
      if (!isHexDigit(this.#text.charCodeAt(at))) return false;
    }
    return true;
  }

  #literal<T extends JSONValue>(literal: string, value: T): T {
    if (!this.#text.startsWith(literal, this.#at)) throw this.#malformed();
    this.#at += literal.length;
    return value;
  }

  #number(): number | bigint {
    const token = this.#match(numberToken);
    this.#at += token.length;
    const value = exactNumber(token);
    if (value === 'OUT_OF_RANGE') throw invalidBodyError(this.#path, value, 'is a number that is too large');
    if (value === 'IMPRECISE')
      throw invalidBodyError(this.#path, value, 'is a number with more digits than can be kept');
    return value;
  }

  /** Returns the text that a sticky pattern matches at the current position. */
  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text)?.[0];
    if (match === undefined) throw this.#malformed();
    return match;
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #skipSpace(): void {
    for (;;) {
      if (!isSpace(this.#text.charCodeAt(this.#at))) return;
      this.#at++;
    }
  }

  #malformed(): AppError {
    const before = this.#text.slice(0, this.#at);
    const line = before.split('\n').length;
    const column = this.#at - before.lastIndexOf('\n');
    return invalidBodyError([], 'MALFORMED_JSON', `is not valid JSON (line ${line}, column ${column})`);
  }
}

const shortEscapes = new Set([...'"\\/bfnrt'].map((character) => character.charCodeAt(0)));

function isHexDigit(code: number): boolean {
  const lower = code | caseBit;
  return (code >= digitZero && code <= digitNine) || (lower >= letterA && lower <= letterF);
}

const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const digitsOnly = /^\d+$/;
const numberParts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE](.+))?$/;

/** Returns the value of a number token, or the issue code if it has none. */
function exactNumber(token: string): number | bigint | 'OUT_OF_RANGE' | 'IMPRECISE' {
  const nearest = Number(token);
  // Nearly every number is an integer of few digits.
  if (token.length <= safeDigits && Number.isInteger(nearest) && digitsOnly.test(token)) return nearest;
  if (!Number.isFinite(nearest)) return 'OUT_OF_RANGE';
  // Every integer up to 2^53 is a double and every double from 2^52 on is an integer, so the token is a fraction.
  if (!Number.isInteger(nearest)) return nearest;

  const [, sign = '', whole = '', fraction = '', exponent = '0'] = numberParts.exec(token) ?? [];
  const digits = whole + fraction;
  const end = significantEnd(digits);
  if (end === 0) return nearest;
  const zeros = Number(exponent) - fraction.length + digits.length - end;
  // A digit other than 0 follows the decimal point. The double is an integer, so it has lost the digit.
  if (zeros < 0) return 'IMPRECISE';
  if (Number.isSafeInteger(nearest) || Math.abs(nearest) >= exactIntegerLimit) return nearest;
  const exact = BigInt(sign + digits.slice(0, end) + '0'.repeat(zeros));
  return BigInt(nearest) === exact ? nearest : exact;
}

/** Returns the index after the last digit other than 0. The pattern /0+$/ would take quadratic time on zeros. */
function significantEnd(digits: string): number {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end--;
  return end;
}

/** Creates the error of an invalid text. `message` is a predicate; its subject is the member at `path`, or the body. */
function invalidBodyError(path: Path, code: string, message: string): AppError {
  const subject = path.length === 0 ? 'The body' : 'A member of the body';
  return new AppError('INVALID', `${subject} ${message}.`, { issues: [{ path: [...path], code, message }] });
}

/** Deeper values refer to themselves, or are no values that we make. */
const maxValueDepth = 1_000;

/**
 * Returns the value, or a copy in which `JSON.stringify` writes all digits of each integer. Objects without such an integer are
 * not copied. A replacer takes twice as long.
 */
function withExactIntegers(value: unknown, depth = 0): unknown {
  if (typeof value === 'bigint') return exactInteger(value);
  if (typeof value === 'number') return Number.isInteger(value) ? exactInteger(value) : value;
  if (typeof value !== 'object' || value === null || ('toJSON' in value && typeof value.toJSON === 'function')) {
    return value;
  }
  if (depth > maxValueDepth) throw new TypeError('The value is nested too deeply, or refers to itself.');
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    let copy: unknown[] | undefined;
    for (let index = 0; index < items.length; index++) {
      const exact = withExactIntegers(items[index], depth + 1);
      if (!Object.is(exact, items[index])) (copy ??= [...items])[index] = exact;
    }
    return copy ?? items;
  }
  let members: Record<string, unknown> | undefined;
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name];
    const exact = withExactIntegers(member, depth + 1);
    if (Object.is(exact, member)) continue;
    members ??= { ...value };
    if (name === '__proto__') Object.defineProperty(members, name, { value: exact });
    else members[name] = exact;
  }
  return members ?? value;
}

/** Returns what `JSON.stringify` writes with all digits. */
function exactInteger(value: bigint | number): unknown {
  const nearest = Number(value);
  if (Number.isSafeInteger(nearest)) return nearest;
  if (typeof value === 'number' && Math.abs(value) >= exactIntegerLimit) return value;
  return JSON.rawJSON(String(BigInt(value)));
}
