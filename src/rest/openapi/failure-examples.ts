import type { ErrorCode } from '../../lib/errors.js';
import type { RouteExample } from '../route.js';

/** Examples of the errors that every operation may return. */
export const failureExamples: { readonly [Code in ErrorCode]?: Pick<RouteExample, 'summary' | 'response'> } = {
  INVALID: {
    summary: 'A body without the content type of JSON',
    response: `
      {
        "status": "error",
        "message": "The content type must be application/json, in UTF-8.",
        "code": "INVALID",
        "issues": [
          { "path": "", "code": "UNSUPPORTED_TYPE", "message": "The content type must be application/json, in UTF-8." }
        ],
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
  },
  UNAUTHENTICATED: {
    summary: 'No credential, or one that is not valid for this operation',
    response: `
      {
        "status": "error",
        "message": "A valid service credential is required (X-Svc-Authorization).",
        "code": "UNAUTHENTICATED",
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
  },
  FORBIDDEN: {
    summary: 'A credential that is restricted to other operations',
    response: `
      {
        "status": "error",
        "message": "The credential does not have the scope \`update\`.",
        "code": "FORBIDDEN",
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
  },
  TOO_LARGE: {
    summary: 'A body over the limit',
    response: `
      {
        "status": "error",
        "message": "The body is larger than 262144 bytes.",
        "code": "TOO_LARGE",
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
  },
  RATE_LIMITED: {
    summary: 'The eleventh invalid credential within a minute',
    response: `
      {
        "status": "error",
        "message": "Too many attempts with invalid credentials.",
        "code": "RATE_LIMITED",
        "retry_after_seconds": 60,
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
  },
  INTERNAL: {
    summary: 'An internal error; the log of the service has the details under the request id',
    response: `
      {
        "status": "error",
        "message": "Internal error.",
        "code": "INTERNAL",
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
  },
  UNAVAILABLE: {
    summary: 'Storage is busy',
    response: `
      {
        "status": "error",
        "message": "Storage is busy.",
        "code": "UNAVAILABLE",
        "retry_after_seconds": 1,
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
  },
};
