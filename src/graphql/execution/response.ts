import { GraphQLError, type ExecutionResult } from 'graphql';
import { LRUCache } from 'lru-cache';
import { preferredType } from '../../http/content-negotiation.js';
import type { Logger } from '../../lib/log.js';
import { largeText } from '../../lib/scheduler.js';
import type { Context } from '../context.js';
import { locationOf, maskedCause, maskError } from '../errors.js';

/** What `maskResult` needs. */
export interface MaskDeps extends Pick<Context, 'nextSlice'> {
  readonly log: Logger;
}

/**
 * Returns the result for the client: masks and logs errors that are not public, and limits the size. Waits for a time
 * slice before each error, and while it stringifies large data: a result may have a thousand errors, and data of 2 MiB
 * takes tens of milliseconds.
 */
export async function maskResult(
  { log, nextSlice }: MaskDeps,
  result: ExecutionResult,
  requestID: string,
): Promise<ExecutionResult> {
  // Yoga drops the error of an aborted wait, such as a wait with its own time limit, and would send an empty result.
  const isErrorLost = result.errors?.length === 0 && !('data' in result);
  const thrown = isErrorLost ? [new Error('A wait was aborted.')] : result.errors;
  const shown: GraphQLError[] = [];
  for (const error of thrown ?? []) {
    const slice = nextSlice();
    if (slice) await slice;
    shown.push(maskAndLog(error, requestID, log));
  }
  return withJSONFieldErrors(
    await limitResponseSize(thrown ? { ...result, errors: shown } : result, requestID, nextSlice),
  );
}

function maskAndLog(error: Error, requestID: string, log: Logger): GraphQLError {
  const shown = maskError(error);
  const cause = maskedCause(shown);
  if (cause !== undefined) log.error({ requestID, err: cause }, 'internal error');
  shown.extensions['requestID'] = requestID;
  return shown;
}

/** Replaces the errors of fields by JSON: Yoga would copy each GraphQLError, and a result may have a thousand. */
function withJSONFieldErrors(result: ExecutionResult): ExecutionResult {
  if (!result.errors) return result;
  const isOfField = ({ path, extensions }: GraphQLError) => path !== undefined && !('http' in extensions);
  const errors = result.errors.map((error) => (isOfField(error) ? (error.toJSON() as GraphQLError) : error));
  return { ...result, errors };
}

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
  const slice = nextSlice();
  if (slice) await slice;
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

const jsonTypes = ['application/graphql-response+json', 'application/json'] as const;

/** The media type of a response in JSON. */
export type JSONType = (typeof jsonTypes)[number];

/** Longer headers are negotiated for each request. */
const maxCachedLength = 256;

/** The most recent headers; false for a header that is left to Yoga. */
const cache = new LRUCache<string, JSONType | false>({ max: 64 });

/**
 * Returns the type of a JSON response to a request with this `Accept` header; undefined when Yoga may respond with
 * another type or reject the request.
 */
export function negotiateJSON(accept: string | null): JSONType | undefined {
  const header = accept || '*/*';
  let type = cache.get(header);
  if (type === undefined) {
    type = (preferredType(header, jsonTypes) !== undefined && firstMatch(header)) || false;
    if (header.length <= maxCachedLength) cache.set(header, type);
  }
  return type || undefined;
}

/** Follows Yoga: the first range that matches a JSON type decides, `application/json` for a range that matches both. */
function firstMatch(header: string): JSONType | undefined {
  for (const range of header.replace(/\s/g, '').toLowerCase().split(',')) {
    const [mediaType = '', ...parameters] = range.split(';');
    const charset = parameters.find((parameter) => parameter.includes('charset='));
    if (charset !== undefined && charset !== 'charset=utf-8') continue;
    const [type, subtype] = mediaType.split('/');
    const matches = jsonTypes.filter((jsonType) => {
      const [ownType, ownSubtype] = jsonType.split('/');
      return (type === '*' || type === ownType) && (subtype === '*' || subtype === ownSubtype);
    });
    if (matches.length > 0) return matches.at(-1);
  }
  return undefined;
}
