import type { CredentialKind } from '../credential.js';
import { AppError, pathText, type ErrorCode } from '../lib/errors.js';
import { stringifyJSON } from '../lib/json.js';

/** The HTTP status of each code. */
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

/** A JSON answer; 64-bit integers are written in digits. */
export function jsonResponse(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return textResponse(stringifyJSON(body), status, headers);
}

/** A JSON response with a list of items that are JSON texts already, and more members beside it. */
export function jsonList(name: string, items: readonly string[], more: Readonly<Record<string, string>>): Response {
  const others = Object.entries(more).map(([member, value]) => `,${JSON.stringify(member)}:${JSON.stringify(value)}`);
  return textResponse(`{${JSON.stringify(name)}:[${items.join()}]${others.join('')}}`, 200, {});
}

function textResponse(text: string, status: number, headers: Record<string, string>): Response {
  const contentType = { 'content-type': 'application/json; charset=utf-8' };
  return new Response(text, { status, headers: { ...contentType, ...headers } });
}

/** The answer to a method that a path does not take. */
export function methodRefused(allow: string, requestID: string): Response {
  return errorResponse(new AppError('INVALID', `This path takes ${allow} only.`), requestID, 405, { allow });
}

/** How to authenticate, for a 401. A header of its own has no registered scheme. */
const challenges: Record<CredentialKind, string> = {
  management: 'Bearer realm="keyfront"',
  service: 'ApiKey realm="keyfront", header="X-Svc-Authorization"',
};

/** The response to anything thrown. `status` replaces the code's own where HTTP knows a closer one. */
export function errorResponse(
  thrown: unknown,
  requestID: string,
  status?: number,
  headers?: Record<string, string>,
  credential?: CredentialKind,
): Response {
  const error = thrown instanceof AppError ? thrown : new AppError('INTERNAL', 'Internal error.');
  const issues = error.issues.map(({ path, code, message }) => ({ path: pathText(path), code, message }));
  const body = {
    status: 'error',
    message: error.code === 'INTERNAL' ? 'Internal error.' : error.message,
    code: error.code,
    ...(issues.length > 0 && { issues }),
    ...(error.retryAfterSeconds !== undefined && { retry_after_seconds: error.retryAfterSeconds }),
    request_id: requestID,
  };
  return jsonResponse(body, status ?? statuses[error.code], {
    ...(error.code === 'UNAUTHENTICATED' && {
      'www-authenticate': credential ? challenges[credential] : Object.values(challenges).join(', '),
    }),
    ...(error.retryAfterSeconds !== undefined && { 'retry-after': String(error.retryAfterSeconds) }),
    ...headers,
  });
}
