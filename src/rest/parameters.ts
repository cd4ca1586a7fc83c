import { AppError } from '../lib/errors.js';
import { checkKeyID } from '../keys/key-id.js';
import { nearest } from '../lib/text.js';
import { malformedParameter, parseQuery } from '../http/query-parameters.js';

/** The identifier in the path, decoded once. Throws INVALID where it is not percent-encoded UTF-8, or no identifier. */
export function parseKeyID(encoded: string): string {
  let keyID: string;
  try {
    keyID = decodeURIComponent(encoded);
  } catch (cause) {
    throw malformedParameter('keyID', 'must be percent-encoded UTF-8', cause);
  }
  return checkKeyID(keyID);
}

/** Whether the quota is to be reset. Only `reset_quota=1` says so, once and to the letter; all else is an error. */
export function parseResetQuota(query: string): boolean {
  if (query === '') return false;
  const parameters = query.split('&');
  const unknown = parameters
    .map((parameter) => parameter.split('=', 1)[0] ?? '')
    .find((name) => name !== 'reset_quota');
  if (unknown === '') throw malformedParameter('', 'holds a parameter without a name');
  if (unknown !== undefined) {
    const meant = nearest(unknown, ['reset_quota']);
    throw malformedParameter(unknown, `is not a parameter here${meant ? `; did you mean \`${meant}\`?` : ''}`);
  }
  if (parameters.length > 1) throw malformedParameter('reset_quota', 'must be given once');
  if (query !== 'reset_quota=1') throw malformedParameter('reset_quota', 'must be 1, or be left out');
  return true;
}

/**
 * The versions named by `If-Match`, of which one must be current; undefined for any. Weak tags never match (RFC 9110,
 * 13.1.1).
 *
 * @throws {AppError} CONFLICT when no tag can be that of a version.
 */
export function parseIfMatch(ifMatch: string | null): readonly number[] | undefined {
  if (ifMatch === null || ifMatch.trim() === '*') return undefined;
  const tags = [...ifMatch.matchAll(/(W\/)?"([^"]*)"/g)];
  const versions = tags.flatMap(([, weak, tag = '']) => (!weak && /^[1-9]\d{0,8}$/.test(tag) ? [Number(tag)] : []));
  if (versions.length === 0) throw new AppError('CONFLICT', 'No version of the key has this entity tag.');
  return versions;
}

export function rejectParameters(query: string): void {
  const [name] = parseQuery(query).keys();
  if (name !== undefined) throw malformedParameter(name, 'is not a parameter here');
}
