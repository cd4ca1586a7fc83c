import { AppError } from '../lib/errors.js';
import { checkKeyID } from '../keys/key-id.js';
import { nearest } from '../lib/nearest.js';
import type { RequestContext } from '../http/request-context.js';
import { malformedParameter, parseQuery } from '../http/query-parameters.js';

/**
 * Decodes the identifier in the path.
 *
 * @throws {AppError} INVALID when it is not percent-encoded UTF-8, or not a key identifier
 */
export function parseKeyID(encoded: string): string {
  let keyID: string;
  try {
    keyID = decodeURIComponent(encoded);
  } catch (cause) {
    throw malformedParameter('keyID', 'must be percent-encoded UTF-8', cause);
  }
  return checkKeyID(keyID);
}

/**
 * Whether the query string is `NAME=1`; false when it is empty.
 *
 * @throws {AppError} INVALID for every other query string
 */
export function parseFlag(query: string, flag: 'reset_quota' | 'include_deleted'): boolean {
  if (query === '') return false;
  const parameters = query.split('&');
  const unknown = parameters.map((parameter) => parameter.split('=', 1)[0] ?? '').find((name) => name !== flag);
  if (unknown === '') throw malformedParameter('', 'contains a parameter without a name');
  if (unknown !== undefined) throw unknownParameter(unknown, nearest(unknown, [flag]));
  if (parameters.length > 1) throw malformedParameter(flag, 'must not be repeated');
  if (query !== `${flag}=1`) throw malformedParameter(flag, 'must be 1 or absent');
  return true;
}

/**
 * Parses `If-Match`. Returns the versions of which one must be current; undefined for any version. Weak tags never
 * match (RFC 9110, 13.1.1).
 *
 * @throws {AppError} CONFLICT when no tag has the form of a version
 */
export function parseIfMatch(ifMatch: string | null): readonly number[] | undefined {
  if (ifMatch === null || ifMatch.trim() === '*') return undefined;
  const tags = [...ifMatch.matchAll(/(W\/)?"([^"]*)"/g)];
  const versions = tags.flatMap(([, weak, tag = '']) => (!weak && /^[1-9]\d{0,8}$/.test(tag) ? [Number(tag)] : []));
  if (versions.length === 0) throw new AppError('CONFLICT', 'No version of the key has this entity tag.');
  return versions;
}

/** Parses `Idempotency-Key`, with quotes (RFC 8941) or without; undefined if the header is absent. */
export function parseIdempotencyKey(header: string | null): string | undefined {
  if (header === null) return undefined;
  return /^"([^"\\]*)"$/.exec(header.trim())?.[1] ?? header.trim();
}

/** Reads the conditions of a change: the versions of which one must be current, and the name of a request that may repeat. */
export function changeConditions({ headers }: RequestContext) {
  const expectedVersion = parseIfMatch(headers.get('if-match'));
  return { expectedVersion, idempotencyKey: parseIdempotencyKey(headers.get('idempotency-key')) };
}

/** Parses the size of a page. @throws {AppError} INVALID when it is not from 1 to `max`. */
export function parseLimit(text: string, max: number): number {
  const limit = Number(text);
  if (!/^\d{1,3}$/.test(text) || limit < 1 || limit > max)
    throw malformedParameter('limit', `must be from 1 to ${max}`);
  return limit;
}

/** The error of a parameter that an operation does not have, with the name of the one that may be meant. */
export function unknownParameter(name: string, suggestion?: string): AppError {
  return malformedParameter(
    name,
    `is an unknown parameter${suggestion === undefined ? '' : `; did you mean \`${suggestion}\`?`}`,
  );
}

/**
 * Rejects every query parameter.
 *
 * @throws {AppError} INVALID with the name of the first parameter
 */
export function rejectParameters(query: string): void {
  const [name] = parseQuery(query).keys();
  if (name !== undefined) throw unknownParameter(name);
}
