import { AppError } from '../lib/errors.js';
import { hasMoreBytes, isStorableText } from '../lib/text.js';

const mostBytes = 255;
// Controls, line separators and format marks, which turn the direction of text round: an identifier looks like itself.
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** Why a text cannot be a key identifier, or undefined where it can. Identifiers are compared byte by byte. */
export function keyIDProblem(keyID: string): string | undefined {
  if (keyID === '') return 'must not be empty';
  const found = characterProblem(keyID, mostBytes);
  if (found !== undefined) return found;
  if (keyID === '.' || keyID === '..') return 'must not be a dot segment';
  return undefined;
}

/** Why a text cannot be a part of a key identifier, as its owner is; undefined if it can. */
export function characterProblem(text: string, maxBytes: number): string | undefined {
  if (!isStorableText(text)) return 'must be well-formed Unicode without NUL';
  if (hasMoreBytes(text, maxBytes)) return `must have at most ${maxBytes} bytes`;
  if (invisible.test(text)) return 'must not hold control or format characters';
  if (/[/\\]/.test(text)) return 'must not hold a slash or a backslash';
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

/** A derived key identifier has 32 hex digits after its owner, and at most 255 bytes. */
const maxBytes = 255 - 32;

/** Why a text cannot be the identifier of an organisation; undefined if it can. */
export function orgIDProblem(orgID: string): string | undefined {
  return orgID.trim() === '' ? 'must not be blank' : characterProblem(orgID, maxBytes);
}

/**
 * The owner of a new key.
 * @throws {AppError} INVALID when there is none, because the owner decides who may see the key, or when it is not valid
 */
export function ownerOf(orgID: string | undefined): string {
  const isMissing = orgID === undefined || orgID.trim() === '';
  if (isMissing) throw invalidOwner('MISSING', 'is required; every key has an owner', 'The key names no organisation.');
  return checkOwner(orgID);
}

/**
 * Returns the owner that a credential or a definition names.
 * @throws {AppError} INVALID when it cannot be the beginning of a key identifier
 */
export function checkOwner(orgID: string): string {
  const found = orgIDProblem(orgID);
  if (found === undefined) return orgID;
  throw invalidOwner('MALFORMED_ORG_ID', found, 'The identifier of the organisation is not valid.');
}

function invalidOwner(code: string, message: string, text: string): AppError {
  return new AppError('INVALID', text, { issues: [{ path: ['orgID'], code, message }] });
}
