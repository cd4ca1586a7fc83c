import { AppError } from '../lib/errors.js';
import { characterProblem } from './key-id.js';

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
