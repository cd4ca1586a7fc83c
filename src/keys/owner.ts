import { AppError } from '../errors.js';

/** Every key has an owner: whose it is decides who may see it. */
export function ownerMissing(): AppError {
  return new AppError('INVALID', 'The key names no organisation.', {
    issues: [{ path: ['orgID'], code: 'MISSING', message: 'is required; every key has an owner' }],
  });
}
