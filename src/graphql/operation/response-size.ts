import { GraphQLError, type ExecutionResult } from 'graphql';
import { placeOf } from '../errors.js';

/** How large an answer may be: a page of 100 keys that are ten times as large as usual. */
export const answerLimitBytes = 2 * 1024 * 1024;

const mostErrors = 20;

/**
 * The answer, if it is within the limit. If not, TOO_LARGE in place of its data: what the operation changed has been
 * changed by now, and the words say so. Errors stay, without their issues, for they tell what did not go through.
 */
export function boundedAnswer(answer: ExecutionResult, requestID: string): ExecutionResult {
  const { data, errors } = answer;
  if (!isLongerThan({ data, errors: errors?.map((error) => error.toJSON()) }, answerLimitBytes)) return answer;
  const kept = errors?.slice(0, mostErrors).map(withoutIssues) ?? [];
  return 'data' in answer ? { data: null, errors: [tooLarge(requestID), ...kept] } : { errors: kept };
}

function tooLarge(requestID: string): GraphQLError {
  const message =
    'The answer is larger than 2 MiB and was left out. What the operation changed stays changed. ' +
    'Ask for smaller pages or fewer fields.';
  return new GraphQLError(message, { extensions: { code: 'TOO_LARGE', requestID } });
}

function withoutIssues(error: GraphQLError): GraphQLError {
  const { issues, ...extensions } = error.extensions;
  return new GraphQLError(error.message, { ...placeOf(error), extensions });
}

/** Whether the JSON of a value has more bytes than the limit. Looks no further than that. */
export function isLongerThan(value: unknown, limitBytes: number): boolean {
  // Nearly every answer is so short that a look at the lengths of its texts is enough, at a fifth of the time.
  return !fits(value, limitBytes, mostBytesOf) && !fits(value, limitBytes, bytesOf);
}

function fits(value: unknown, limitBytes: number, bytesOfText: (text: string) => number): boolean {
  let left = limitBytes;
  // A character takes at least a byte, so that a long text need not be written out to know that it is too long.
  const takeText = (text: string) => text.length <= left && (left -= bytesOfText(text)) >= 0;
  const take = (part: unknown): boolean => {
    if (typeof part === 'string') return takeText(part);
    if (typeof part !== 'object' || part === null) return (left -= String(part).length) >= 0;
    // Brackets, and the commas between.
    left -= 2;
    if (Array.isArray(part)) {
      left -= Math.max(part.length - 1, 0);
      return left >= 0 && part.every(take);
    }
    let members = 0;
    // Without a list of members, which would be made for nothing else. Answers inherit nothing.
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

/** A character takes six bytes at the most, as `\u001f` does. */
const mostBytesOf = (text: string) => 2 + 6 * text.length;

function bytesOf(text: string): number {
  return /^[ !#-[\]-~]*$/.test(text) ? text.length + 2 : Buffer.byteLength(JSON.stringify(text));
}
