import { AppError } from '../errors.js';
import { hasMoreBytes, isSound } from './text.js';

const mostBytes = 255;
// Controls, line separators and format marks, which turn the direction of text round: an identifier looks like itself.
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** Why a text cannot be a key identifier, or undefined where it can. Identifiers are compared byte by byte. */
export function keyIDProblem(keyID: string): string | undefined {
  if (keyID === '') return 'must not be empty';
  if (!isSound(keyID)) return 'must be well-formed Unicode without NUL';
  if (hasMoreBytes(keyID, mostBytes)) return `must have at most ${mostBytes} bytes`;
  if (invisible.test(keyID)) return 'must not hold control or format characters';
  if (/[/\\]/.test(keyID)) return 'must not hold a slash or a backslash';
  if (keyID === '.' || keyID === '..') return 'must not be a dot segment';
  return undefined;
}

/** Returns the identifier, or throws INVALID with the path `keyID`. */
export function checkKeyID(keyID: string): string {
  const found = keyIDProblem(keyID);
  if (found === undefined) return keyID;
  throw new AppError('INVALID', 'The key identifier is not valid.', {
    issues: [{ path: ['keyID'], code: 'MALFORMED_KEY_ID', message: found }],
  });
}
