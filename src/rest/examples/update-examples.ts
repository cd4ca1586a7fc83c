import type { Examples } from './example.js';

/** Of `updateOrgKey`. */
export const updateExamples: Examples = {
  replace: {
    summary: 'A new definition, whatever the version, and the quota begins anew',
    parameters: { keyID: 'acme-billing', reset_quota: 1, 'If-Match': '*' },
    body: `
      {
        "alias": "Billing, production",
        "rate": 200,
        "per": 60,
        "quota_max": 20000,
        "quota_renewal_rate": 2592000,
        "tags": ["billing", "production"]
      }`,
    status: 200,
    answer: `
      {
        "action": "modified",
        "key": "acme-billing",
        "key_hash": "8805bb626b61fcb32e4c55b535399c92ecc8c2bb0dcaa3d327ec5a19da7adbd4",
        "status": "ok"
      }`,
    etag: '"2"',
  },
  ifUnchanged: {
    summary: 'Only if the key still has version 1; the quota goes on',
    parameters: { keyID: 'acme-mobile', 'If-Match': '"1"' },
    body: `{ "alias": "Mobile application", "rate": 40, "per": 1, "expires": 1700000000 }`,
    status: 200,
    answer: `
      {
        "action": "modified",
        "key": "acme-mobile",
        "key_hash": "5429b7fdb3b24431f2ae6f4ea5409c557275077bca58dfc6cdc6445e29871e9e",
        "status": "ok",
        "warnings": [{ "path": "expires", "code": "EXPIRES_IN_PAST", "message": "has passed already" }]
      }`,
    etag: '"2"',
  },
  mistakes: {
    summary: 'A field of the preview alone, and a rate below -1',
    parameters: { keyID: 'acme-billing' },
    body: `{ "key_id": "acme-billing", "rate": -5 }`,
    status: 400,
    answer: `
      {
        "status": "error",
        "message": "The key definition has 2 problems.",
        "code": "INVALID",
        "issues": [
          { "path": "rate", "code": "OUT_OF_RANGE", "message": "must be at least -1" },
          { "path": "key_id", "code": "WRONG_VARIANT", "message": "belongs to the preview only" }
        ],
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
  },
  unknownKey: {
    summary: 'A key that does not exist: it is not created',
    parameters: { keyID: 'acme-nothing' },
    body: `{ "alias": "Nothing" }`,
    status: 404,
    answer: `
      {
        "status": "error",
        "message": "There is no such key.",
        "code": "NOT_FOUND",
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
  },
  changedSince: {
    summary: 'For version 1 of a key that was changed since: it is told what has changed',
    parameters: { keyID: 'acme-billing', 'If-Match': '"1"' },
    body: `{ "alias": "Billing, renamed" }`,
    status: 412,
    answer: `
      {
        "status": "error",
        "message": "The key has version 2 by now, not 1.",
        "code": "CONFLICT",
        "issues": [
          { "path": "quota_max", "code": "CHANGED_SINCE", "message": "has changed since version 1" },
          { "path": "rate", "code": "CHANGED_SINCE", "message": "has changed since version 1" },
          { "path": "quota_remaining", "code": "CHANGED_SINCE", "message": "has changed since version 1" },
          { "path": "quota_renews", "code": "CHANGED_SINCE", "message": "has changed since version 1" },
          { "path": "access_rights", "code": "CHANGED_SINCE", "message": "has changed since version 1" },
          { "path": "apply_policies", "code": "CHANGED_SINCE", "message": "has changed since version 1" }
        ],
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
  },
};
