import { GraphQLError, type ExecutionResult } from 'graphql';
import type { Context } from '../context.js';
import { locationOf } from '../errors.js';

type NextSlice = Context['nextSlice'];

/** The maximum size of a response: a page of 100 keys that are ten times as large as most. */
export const responseLimitBytes = 2 * 1024 * 1024;

const maxErrors = 20;

/**
 * Replaces the data of a response above the limit by a TOO_LARGE error, which states that changes were saved. Keeps up to 20
 * errors, without their issues, because they report what failed.
 */
export async function limitResponseSize(
  result: ExecutionResult,
  requestID: string,
  nextSlice: NextSlice,
): Promise<ExecutionResult> {
  const { data, errors } = result;
  const shown = { data, errors: errors?.map((error) => error.toJSON()) };
  if (!(await isLongerThan(shown, responseLimitBytes, nextSlice))) return result;
  const kept = errors?.slice(0, maxErrors).map(withoutIssues) ?? [];
  return 'data' in result ? { data: null, errors: [tooLarge(requestID), ...kept] } : { errors: kept };
}

function tooLarge(requestID: string): GraphQLError {
  const message =
    'The response exceeds 2 MiB and was omitted. Changes that the operation made are saved. ' +
    'Request smaller pages or fewer fields.';
  return new GraphQLError(message, { extensions: { code: 'TOO_LARGE', requestID } });
}

function withoutIssues(error: GraphQLError): GraphQLError {
  const { issues, ...extensions } = error.extensions;
  return new GraphQLError(error.message, { ...locationOf(error), extensions });
}

/** Whether the JSON of a value has more bytes than the limit. Stops at the limit. */
export async function isLongerThan(
  value: unknown,
  limitBytes: number,
  nextSlice: NextSlice = () => undefined,
): Promise<boolean> {
  // For nearly every response the lengths of its strings decide, in a fifth of the time.
  return !isCertainlyWithin(value, limitBytes) && !(await isWithin(value, limitBytes, nextSlice));
}

/** Whether a value is within the limit even if every character takes the maximum of six bytes, as `\u001f` does. */
function isCertainlyWithin(value: unknown, limitBytes: number): boolean {
  let left = limitBytes;
  const take = (part: unknown): boolean => {
    if (typeof part === 'string') return (left -= 2 + 6 * part.length) >= 0;
    if (typeof part !== 'object' || part === null) return (left -= maxLiteralBytes) >= 0;
    // Brackets; commas and colons follow.
    left -= 2;
    if (Array.isArray(part)) {
      left -= part.length;
      return left >= 0 && part.every(take);
    }
    // Creates no array of members. Responses inherit no properties.
    for (const name in part) {
      left -= 4 + 6 * name.length;
      if (left < 0 || !take((part as Record<string, unknown>)[name])) return false;
    }
    return left >= 0;
  };
  return take(value);
}

/** Of numbers, such as -1.2345678901234567e-300, and of true, false and null. */
const maxLiteralBytes = 25;

/** How many objects and lists are examined between two looks at the clock. */
const partsPerCheck = 64;

/** Other requests are served between the parts of a value: a response may have 200,000 members. */
async function isWithin(value: unknown, limitBytes: number, nextSlice: NextSlice): Promise<boolean> {
  const pending = [value];
  let left = limitBytes;
  for (let parts = 1; pending.length > 0; parts += 1) {
    if (parts % partsPerCheck === 0) {
      const slice = nextSlice();
      if (slice) await slice;
    }
    left -= bytesOf(pending.pop(), pending, left);
    if (left < 0) return false;
  }
  return true;
}

/** The bytes of a part without those of the objects and lists in it, which are added to `pending`. */
function bytesOf(part: unknown, pending: unknown[], maxBytes: number): number {
  if (typeof part !== 'object' || part === null) return bytesOfPrimitive(part, maxBytes);
  // Brackets; commas follow.
  let bytes = 2;
  const add = (member: unknown): void => {
    if (typeof member === 'object' && member !== null) pending.push(member);
    else bytes += bytesOfPrimitive(member, maxBytes);
  };
  if (Array.isArray(part)) {
    for (const item of part) {
      if (bytes > maxBytes) return bytes;
      add(item);
    }
    return bytes + Math.max(part.length - 1, 0);
  }
  let members = 0;
  for (const name in part) {
    if (bytes > maxBytes) return bytes;
    const member = (part as Record<string, unknown>)[name];
    if (member === undefined) continue;
    // The colon, and the comma before every member but the first.
    bytes += bytesOfPrimitive(name, maxBytes) + (members > 0 ? 2 : 1);
    members += 1;
    add(member);
  }
  return bytes;
}

function bytesOfPrimitive(value: unknown, maxBytes: number): number {
  if (typeof value !== 'string') return String(value).length;
  // A character takes at least one byte, so a text that is too long is not encoded.
  if (value.length > maxBytes) return value.length;
  return /^[ !#-[\]-~]*$/.test(value) ? value.length + 2 : Buffer.byteLength(JSON.stringify(value));
}
