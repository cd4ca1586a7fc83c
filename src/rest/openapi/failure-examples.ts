import type { ErrorCode } from '../../lib/errors.js';
import type { RouteExample } from '../route.js';

/** What every operation may fail with, whatever it was asked. */
export const failureExamples: { readonly [Code in ErrorCode]?: Pick<RouteExample, 'summary' | 'response'> } = {
  INVALID: {
    summary: 'A body that is not announced as JSON',
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
    summary: 'No credential, or none that opens this operation',
    response: `
      {
        "status": "error",
        "message": "A valid credential is required.",
        "code": "UNAUTHENTICATED",
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
    summary: 'The eleventh wrong credential within a minute',
    response: `
      {
        "status": "error",
        "message": "Too many attempts with credentials that are not valid.",
        "code": "RATE_LIMITED",
        "retry_after_seconds": 60,
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
  },
  INTERNAL: {
    summary: 'A fault of the service: its log tells more under the request id',
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
