import type { Examples } from './example.js';

/** Of `consumeOrgQuota`. */
export const quotaExamples: Examples = {
  allowed: {
    summary: 'Ten requests',
    parameters: { keyID: 'acme-billing' },
    body: `{ "amount": 10 }`,
    status: 200,
    answer: `{ "allowed": true, "used": 8130, "remaining": 1870, "quota_max": 10000, "renews_at": 1772452800 }`,
  },
  refused: {
    summary: 'More than is left: none is counted',
    parameters: { keyID: 'acme-billing' },
    body: `{ "amount": 2000 }`,
    status: 200,
    answer: `
      {
        "allowed": false,
        "refusal": "QUOTA_EXCEEDED",
        "used": 8120,
        "remaining": 1880,
        "quota_max": 10000,
        "renews_at": 1772452800
      }`,
  },
  mistakes: {
    summary: 'No request at all',
    parameters: { keyID: 'acme-billing' },
    body: `{ "amount": 0 }`,
    status: 400,
    answer: `
      {
        "status": "error",
        "message": "The amount is not valid.",
        "code": "INVALID",
        "issues": [
          {
            "path": "amount",
            "code": "OUT_OF_RANGE",
            "message": "must be at least 1, and of a size that can be counted"
          }
        ],
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
  },
  unknownKey: {
    summary: 'A key that does not exist',
    parameters: { keyID: 'acme-nothing' },
    body: `{ "amount": 1 }`,
    status: 404,
    answer: `
      {
        "status": "error",
        "message": "There is no such key.",
        "code": "NOT_FOUND",
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
  },
};
