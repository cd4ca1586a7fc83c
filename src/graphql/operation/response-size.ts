import { GraphQLError, type ExecutionResult } from 'graphql';
import { locationOf } from '../errors.js';

/** The maximum size of a response: a page of 100 keys that are ten times as large as most. */
export const responseLimitBytes = 2 * 1024 * 1024;

const maxErrors = 20;

/**
 * Replaces the data of a response above the limit by a TOO_LARGE error, which states that changes were saved. Keeps up to 20
 * errors, without their issues, because they report what failed.
 */
export function limitResponseSize(result: ExecutionResult, requestID: string): ExecutionResult {
  const { data, errors } = result;
  if (!isLongerThan({ data, errors: errors?.map((error) => error.toJSON()) }, responseLimitBytes)) return result;
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
export function isLongerThan(value: unknown, limitBytes: number): boolean {
  // For nearly every response the lengths of its strings decide, in a fifth of the time.
  return !isWithin(value, limitBytes, maxBytesOf) && !isWithin(value, limitBytes, bytesOf);
}

function isWithin(value: unknown, limitBytes: number, bytesOfText: (text: string) => number): boolean {
  let left = limitBytes;
  // A character takes at least one byte, so a text that is too long is not encoded.
  const takeText = (text: string) => text.length <= left && (left -= bytesOfText(text)) >= 0;
  const take = (part: unknown): boolean => {
    if (typeof part === 'string') return takeText(part);
    if (typeof part !== 'object' || part === null) return (left -= String(part).length) >= 0;
    // Brackets; commas follow.
    left -= 2;
    if (Array.isArray(part)) {
      left -= Math.max(part.length - 1, 0);
      return left >= 0 && part.every(take);
    }
    let members = 0;
    // Creates no array of members. Responses inherit no properties.
    for (const name in part) {
      const member = (part as Record<string, unknown>)[name];
      if (member === undefined) continue;
      if (members > 0) left -= 1;
      members += 1;
      // The colon.
      left -= 1;
      if (!takeText(name) || !take(member)) return false;
    }
    return left >= 0;
  };
  return take(value);
}

/** A character takes at most six bytes, as `\u001f` does. */
const maxBytesOf = (text: string) => 2 + 6 * text.length;

function bytesOf(text: string): number {
  return /^[ !#-[\]-~]*$/.test(text) ? text.length + 2 : Buffer.byteLength(JSON.stringify(text));
}
