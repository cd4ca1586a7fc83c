import { maxJSONDepth } from './json.js';

/**
 * Maximum number of object members and list items in a request body or definition: enough for a definition with 10,000
 * members of free-form JSON and the arguments around it. All work on a definition is linear in this number.
 */
export const maxValues = 12_000;

const space = 0x20;
const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Whether a JSON text has more values in lists and objects than `max`. False for a text that is nested too deeply, which
 * the parser rejects.
 */
export function hasMoreValuesInText(text: string, max = maxValues): boolean {
  // Each value takes at least two characters.
  if (text.length <= 2 * max) return false;
  let values = 0;
  let depth = 0;
  let isAfterOpening = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code <= space) continue;
    const isClosing = code === closeBracket || code === closeBrace;
    // A comma precedes every value but the first of its list or object.
    if (code === comma || (isAfterOpening && !isClosing)) values += 1;
    if (values > max) return true;
    isAfterOpening = code === openBracket || code === openBrace;
    if (isAfterOpening) depth += 1;
    if (depth > maxJSONDepth) return false;
    if (isClosing) depth -= 1;
    if (code === quote) at = endOfString(text, at);
  }
  return false;
}

/** Whether a JSON value contains more values than `max`. Stops counting at `max`. */
export function hasMoreValues(value: unknown, max = maxValues): boolean {
  let remaining = max;
  const exceeds = (part: unknown): boolean => {
    if (typeof part !== 'object' || part === null) return false;
    const inner: readonly unknown[] = Array.isArray(part) ? part : Object.values(part);
    remaining -= inner.length;
    return remaining < 0 || inner.some(exceeds);
  };
  return exceeds(value);
}

/** The position of the quote that ends the string opened at `start`, or the end of a text that lacks one. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code === backslash) at += 1;
  }
  return text.length;
}
