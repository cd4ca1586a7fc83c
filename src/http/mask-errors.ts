import { AppError, codeOf } from '../lib/errors.js';
import type { Logger } from '../lib/log.js';
import { errorResponse } from './error-response.js';
import type { Middleware } from './router.js';

/** Responds to an error that a route throws. An error that is not meant for clients is logged and masked. */
export function maskErrors(log: Logger): Middleware {
  return async ({ id, record }, next) => {
    try {
      return await next();
    } catch (error) {
      record.verdict = codeOf(error);
      if (!isPublic(error)) log.error({ requestID: id, err: error }, 'internal error');
      return errorResponse(error, id);
    }
  };
}

/** Whether a client may see the message of an error. */
export function isPublic(error: unknown): error is AppError {
  return error instanceof AppError && error.code !== 'INTERNAL';
}
