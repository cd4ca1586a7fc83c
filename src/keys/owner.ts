import { AppError } from '../errors.js';

/** The owner of a new key. Throws INVALID where there is none: whose a key is decides who may see it. */
export function ownerOf(orgID: string | undefined): string {
  if (orgID !== undefined && orgID.trim() !== '') return orgID;
  throw new AppError('INVALID', 'The key names no organisation.', {
    issues: [{ path: ['orgID'], code: 'MISSING', message: 'is required; every key has an owner' }],
  });
}
