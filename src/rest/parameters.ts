import { AppError } from '../errors.js';
import { checkKeyID } from '../keys/key-id.js';
import { nearest } from '../nearest.js';

/** The identifier in the path, decoded once. Throws INVALID where it is not percent-encoded UTF-8, or no identifier. */
export function keyIDFrom(encoded: string): string {
  let keyID: string;
  try {
    keyID = decodeURIComponent(encoded);
  } catch (cause) {
    throw malformed('keyID', 'must be percent-encoded UTF-8', cause);
  }
  return checkKeyID(keyID);
}

/** Whether the quota is to be reset. Only `reset_quota=1` says so, once and to the letter; all else is an error. */
export function resetQuotaFrom(query: string): boolean {
  if (query === '') return false;
  const parameters = query.split('&');
  const unknown = parameters
    .map((parameter) => parameter.split('=', 1)[0] ?? '')
    .find((name) => name !== 'reset_quota');
  if (unknown !== undefined) {
    const meant = nearest(unknown, ['reset_quota']);
    throw malformed(unknown, `is not a parameter here${meant ? `; did you mean \`${meant}\`?` : ''}`);
  }
  if (parameters.length > 1) throw malformed('reset_quota', 'must be given once');
  if (query !== 'reset_quota=1') throw malformed('reset_quota', 'must be 1, or be left out');
  return true;
}

/** The version named by `If-Match`, undefined for any. Throws CONFLICT for a tag that is no version of ours. */
export function expectedVersionFrom(ifMatch: string | null): number | undefined {
  if (ifMatch === null || ifMatch.trim() === '*') return undefined;
  const version = /^"([1-9]\d{0,8})"$/.exec(ifMatch.trim())?.[1];
  if (version === undefined) throw new AppError('CONFLICT', 'No version of the key has this entity tag.');
  return Number(version);
}

export function noParameters(query: string): void {
  if (query === '') return;
  const name = query.split(/[=&]/, 1)[0] ?? '';
  throw malformed(name, 'is not a parameter here');
}

function malformed(name: string, message: string, cause?: unknown): AppError {
  return new AppError('INVALID', 'A parameter of the request is not valid.', {
    issues: [{ path: [name], code: 'MALFORMED_ARGUMENT', message }],
    cause,
  });
}
