import { GraphQLError, type ExecutionResult } from 'graphql';
import { largeText } from '../../lib/scheduler.js';
import type { Context } from '../context.js';
import { locationOf } from '../errors.js';

type NextSlice = Context['nextSlice'];

/** The maximum size of a response: a page of 100 keys that are ten times as large as most. */
export const responseLimitBytes = 2 * 1024 * 1024;

const maxErrors = 20;

/** A result with its JSON, which Yoga then sends. */
interface Stringified extends ExecutionResult {
  readonly stringify?: (result: ExecutionResult) => string;
}

/**
 * Replaces the data of a response above the limit by a TOO_LARGE error, which states that changes were saved. Keeps up to 20
 * errors, without their issues, because they report what failed. Large data is stringified in time slices.
 */
export async function limitResponseSize(
  result: ExecutionResult,
  requestID: string,
  nextSlice: NextSlice,
): Promise<Stringified> {
  const { data, errors, extensions } = result;
  const shownErrors = errors?.map((error) => error.toJSON());
  if (isCertainlyWithin({ data, errors: shownErrors }, responseLimitBytes)) return result;
  const bytesAround = Buffer.byteLength(withData('', shownErrors, extensions));
  const text = data && (await stringifyWithin(data, responseLimitBytes - bytesAround, nextSlice));
  if (text) return { ...result, stringify: (shown) => withData(text, shown.errors, extensions) };
  if (!data && bytesAround <= responseLimitBytes) return result;
  const kept = errors?.slice(0, maxErrors).map(withoutIssues) ?? [];
  return 'data' in result ? { data: null, errors: [tooLargeError(requestID), ...kept] } : { errors: kept };
}

function withData(text: string, errors: readonly object[] | undefined, extensions: object | undefined): string {
  const before = errors ? `"errors":${JSON.stringify(errors)},` : '';
  return `{${before}"data":${text}${extensions ? `,"extensions":${JSON.stringify(extensions)}` : ''}}`;
}

function tooLargeError(requestID: string): GraphQLError {
  const message =
    'The response exceeds 2 MiB and was omitted. Changes that the operation made are saved. ' +
    'Request smaller pages or fewer fields.';
  return new GraphQLError(message, { extensions: { code: 'TOO_LARGE', requestID } });
}

function withoutIssues(error: GraphQLError): GraphQLError {
  const { issues, ...extensions } = error.extensions;
  return new GraphQLError(error.message, { ...locationOf(error), extensions });
}

/** Whether a value is within the limit even if every character takes the maximum of six bytes, as `\u001f` does. */
function isCertainlyWithin(value: unknown, limitBytes: number): boolean {
  let left = limitBytes;
  const subtract = (part: unknown): boolean => {
    if (typeof part === 'string') return (left -= 2 + 6 * part.length) >= 0;
    if (typeof part !== 'object' || part === null) return (left -= maxLiteralBytes) >= 0;
    // Brackets; commas and colons follow.
    left -= 2;
    if (Array.isArray(part)) {
      left -= part.length;
      return left >= 0 && part.every(subtract);
    }
    // `for … in` creates no array of members. Responses inherit no properties.
    for (const name in part) {
      left -= 4 + 6 * name.length;
      if (left < 0 || !subtract((part as Record<string, unknown>)[name])) return false;
    }
    return left >= 0;
  };
  return subtract(value);
}

/** The maximum length of a number, such as -1.2345678901234567e-300, and of true, false and null. */
const maxLiteralBytes = 25;

/**
 * Stringifies a value; undefined if its JSON has more bytes than the limit. Waits for a time slice between parts: a
 * response may have 200,000 members.
 */
export async function stringifyWithin(
  value: object,
  limitBytes: number,
  nextSlice: NextSlice = () => undefined,
): Promise<string | undefined> {
  let text = '';
  let left = limitBytes;
  for (const part of partsOf(value)) {
    left -= Buffer.byteLength(part);
    if (left < 0) return undefined;
    text += part;
    const slice = nextSlice();
    if (slice) await slice;
  }
  return text;
}

/** The JSON of a value in parts of up to `largeText`, or of one text. */
function* partsOf(value: unknown): Generator<string> {
  let text = '';
  for (const token of tokensOf(value)) {
    text += token;
    if (text.length < largeText) continue;
    yield text;
    text = '';
  }
  yield text;
}

function* tokensOf(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null || isCertainlyWithin(value, largeText)) {
    const text: string | undefined = JSON.stringify(value);
    // A list has null in place of a value without a JSON form.
    yield text ?? 'null';
    return;
  }
  const isList = Array.isArray(value);
  let before = isList ? '[' : '{';
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined && !isList) continue;
    yield isList ? before : `${before}${JSON.stringify(name)}:`;
    before = ',';
    yield* tokensOf(member);
  }
  yield `${before === ',' ? '' : before}${isList ? ']' : '}'}`;
}
