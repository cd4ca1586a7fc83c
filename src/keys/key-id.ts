import { AppError } from '../lib/errors.js';
import { hasMoreBytes, isStorableText } from '../lib/text.js';

const maxKeyIDBytes = 255;
// Control, line separator and format characters (such as bidi marks) could make two identifiers look the same.
const invisibleCharacters = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** Returns why a text is not a valid key identifier; undefined if it is. Identifiers are compared byte by byte. */
export function keyIDProblem(keyID: string): string | undefined {
  if (keyID === '') return 'must not be empty';
  const found = characterProblem(keyID, maxKeyIDBytes);
  if (found !== undefined) return found;
  if (keyID === '.' || keyID === '..') return 'must not be a dot segment';
  return undefined;
}

/** Returns why a text is not valid as a part of a key identifier; undefined if it is. */
export function characterProblem(text: string, maxBytes: number): string | undefined {
  if (!isStorableText(text)) return 'must be well-formed Unicode without NUL';
  if (hasMoreBytes(text, maxBytes)) return `must have at most ${maxBytes} bytes`;
  if (invisibleCharacters.test(text)) return 'must not hold control or format characters';
  if (/[/\\]/.test(text)) return 'must not hold a slash or a backslash';
  return undefined;
}

/**
 * Returns the identifier if it is valid.
 *
 * @throws {AppError} INVALID with the path `keyID`.
 */
export function checkKeyID(keyID: string): string {
  const found = keyIDProblem(keyID);
  if (found === undefined) return keyID;
  throw new AppError('INVALID', 'The key identifier is not valid.', {
    issues: [{ path: ['keyID'], code: 'MALFORMED_KEY_ID', message: found }],
  });
}

/** A prefix that is readable and needs no escaping in a URL or a header. */
const keyIDPrefixPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Returns why a text is not a valid prefix of generated identifiers; undefined if it is. */
export function keyIDPrefixProblem(prefix: string): string | undefined {
  if (keyIDPrefixPattern.test(prefix)) return undefined;
  return 'must have 1 to 64 letters, digits, dots, hyphens and underscores, and begin with a letter or digit';
}

/**
 * Returns the prefix if it is valid.
 *
 * @throws {AppError} INVALID with the path `prefix`.
 */
export function checkKeyIDPrefix(prefix: string): string {
  const found = keyIDPrefixProblem(prefix);
  if (found === undefined) return prefix;
  throw new AppError('INVALID', 'The prefix of the key identifier is not valid.', {
    issues: [{ path: ['prefix'], code: 'MALFORMED_KEY_ID', message: found }],
  });
}

/** Returns a new key identifier: the prefix, a separator unless the prefix ends in one, and the random digits. */
export function generatedKeyID(prefix: string, randomHex: string): string {
  const separator = prefix === '' || /[._-]$/.test(prefix) ? '' : '_';
  return `${prefix}${separator}${randomHex}`;
}

/** A generated key identifier has at most 255 bytes: its owner or a prefix, a separator, 32 hex digits and the checksum. */
const maxBytes = 255 - 1 - 32 - 8;

/** Returns why a text is not a valid identifier of an organization; undefined if it is. */
export function orgIDProblem(orgID: string): string | undefined {
  return orgID.trim() === '' ? 'must not be blank' : characterProblem(orgID, maxBytes);
}

/**
 * Returns the owner of a new key. It is required, because it determines which callers can see the key.
 *
 * @throws {AppError} INVALID when it is absent or not valid.
 */
export function ownerOf(orgID: string | undefined): string {
  const isMissing = orgID === undefined || orgID.trim() === '';
  if (isMissing) throw invalidOwner('MISSING', 'is required; every key has an owner', 'The key has no organization.');
  return checkOwner(orgID);
}

/**
 * Returns the owner if it is a valid identifier of an organization.
 *
 * @throws {AppError} INVALID with the path `orgID`.
 */
export function checkOwner(orgID: string): string {
  const found = orgIDProblem(orgID);
  if (found === undefined) return orgID;
  throw invalidOwner('MALFORMED_ORG_ID', found, 'The identifier of the organization is not valid.');
}

function invalidOwner(code: string, message: string, text: string): AppError {
  return new AppError('INVALID', text, { issues: [{ path: ['orgID'], code, message }] });
}
