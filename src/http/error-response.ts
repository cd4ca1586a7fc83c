import type { CredentialKind } from '../credentials/credential.js';
import { AppError, pathText, type ErrorCode } from '../lib/errors.js';
import { jsonResponse, type HTTPResponse } from './response.js';

/** The HTTP status of each code, in both APIs. */
export const statuses: Record<ErrorCode, number> = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  INVALID: 400,
  NOT_FOUND: 404,
  CONFLICT: 409,
  TOO_LARGE: 413,
  RATE_LIMITED: 429,
  UNAVAILABLE: 503,
  INTERNAL: 500,
};

/** The `WWW-Authenticate` challenge of each kind. No scheme is registered for a custom header. */
const challenges: Record<CredentialKind, string> = {
  management: 'Bearer realm="keyfront"',
  service: 'ApiKey realm="keyfront", header="X-Svc-Authorization"',
};

/** Whether a client may see the message of an error. */
export function isPublicError(error: unknown): error is AppError {
  return error instanceof AppError && error.code !== 'INTERNAL';
}

interface ErrorResponseOptions {
  /** Default: the status of the error's code. */
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** The kind of credential that the operation requires. Default: the response offers both. */
  readonly credential?: CredentialKind;
}

/** The part of an error that clients receive. */
type PublicError = Pick<AppError, 'code' | 'message' | 'issues'> & Partial<Pick<AppError, 'retryAfterSeconds'>>;

const maskedError: PublicError = { code: 'INTERNAL', message: 'Internal error.', issues: [] };

/** Returns the response to an error in the format of the REST API. Masks an error that is not public. */
export function errorResponse(thrown: unknown, requestID: string, options?: ErrorResponseOptions): HTTPResponse {
  return publicErrorResponse(isPublicError(thrown) ? thrown : maskedError, requestID, options);
}

/** Returns the response to a public error in the format of the REST API. A plain object costs no stack trace. */
export function publicErrorResponse(
  error: PublicError,
  requestID: string | undefined,
  { status, headers, credential }: ErrorResponseOptions = {},
): HTTPResponse {
  const issues = error.issues.map(({ path, code, message }) => ({ path: pathText(path), code, message }));
  const body = {
    status: 'error',
    message: error.message,
    code: error.code,
    ...(issues.length > 0 && { issues }),
    ...(error.retryAfterSeconds !== undefined && { retry_after_seconds: error.retryAfterSeconds }),
    ...(requestID !== undefined && { request_id: requestID }),
  };
  return jsonResponse(body, status ?? statuses[error.code], {
    ...(error.code === 'UNAUTHENTICATED' && {
      'www-authenticate': credential ? challenges[credential] : Object.values(challenges).join(', '),
    }),
    ...(error.retryAfterSeconds !== undefined && { 'retry-after': String(error.retryAfterSeconds) }),
    ...headers,
  });
}
