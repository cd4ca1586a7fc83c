import type { Examples } from './example.js';
import { malformed, unknownKey } from './read-examples.js';

/** Of `createOrgKey`. */
export const createExamples: Examples = {
  create: {
    summary: 'A new key',
    parameters: { keyID: 'acme-partners' },
    body: `{ "alias": "Partners", "org_id": "acme", "rate": 10, "per": 1, "quota_max": 1000, "quota_renewal_rate": 86400 }`,
    status: 200,
    answer: `
      {
        "action": "added",
        "key": "acme-partners",
        "key_hash": "7c04b262d38ca1bb106b35b13a9c79d627fb62c9c8c4eba85cb8d7509bbf8116",
        "status": "ok"
      }`,
    etag: '"1"',
  },
  mistakes: {
    summary: 'A hash that does not keep a password well',
    parameters: { keyID: 'acme-partners' },
    body: `{ "alias": "Partners", "org_id": "acme", "basic_auth_data": { "user": "partners", "password": "correct horse", "hash_type": "md5" } }`,
    status: 400,
    answer: `
      {
        "status": "error",
        "message": "The key definition has a problem.",
        "code": "INVALID",
        "issues": [
          {
            "path": "basic_auth_data.hash_type",
            "code": "WEAK_HASH",
            "message": "must be bcrypt or argon2id; this one can be tried millions of times a second"
          }
        ],
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
  },
  otherOrganisation: {
    summary: 'A key of globex, with a credential that is bound to acme',
    parameters: { keyID: 'globex-partners' },
    body: `{ "alias": "Partners", "org_id": "globex" }`,
    status: 403,
    answer: `
      {
        "status": "error",
        "message": "The credential is bound to another organisation than the definition names.",
        "code": "FORBIDDEN",
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
  },
  exists: {
    summary: 'A key that exists: it is not overwritten',
    parameters: { keyID: 'acme-billing' },
    body: `{ "alias": "Billing", "org_id": "acme" }`,
    status: 409,
    answer: `
      {
        "status": "error",
        "message": "The key exists already; it is not overwritten.",
        "code": "CONFLICT",
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
  },
};

/** Of `deleteOrgKey`. */
export const deleteExamples: Examples = {
  delete: {
    summary: 'Whatever its version',
    parameters: { keyID: 'acme-mobile', 'If-Match': '*' },
    status: 200,
    answer: `
      {
        "action": "deleted",
        "key": "acme-mobile",
        "key_hash": "5429b7fdb3b24431f2ae6f4ea5409c557275077bca58dfc6cdc6445e29871e9e",
        "status": "ok"
      }`,
    etag: '"2"',
  },
  malformed,
  unknownKey,
  changedSince: {
    summary: 'For version 1 of a key that was changed since',
    parameters: { keyID: 'acme-billing', 'If-Match': '"1"' },
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

/** Of `restoreOrgKey`. */
export const restoreExamples: Examples = {
  restore: {
    summary: 'A key that was deleted',
    parameters: { keyID: 'acme-mobile', 'If-Match': '*' },
    status: 200,
    answer: `
      {
        "action": "restored",
        "key": "acme-mobile",
        "key_hash": "5429b7fdb3b24431f2ae6f4ea5409c557275077bca58dfc6cdc6445e29871e9e",
        "status": "ok"
      }`,
    etag: '"3"',
  },
  malformed,
  notDeleted: {
    summary: 'A key that is not deleted',
    parameters: { keyID: 'acme-billing' },
    status: 404,
    answer: `
      {
        "status": "error",
        "message": "There is no deleted key to restore.",
        "code": "NOT_FOUND",
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
  },
  changedSince: {
    summary: 'For version 1 of a key that was deleted after it',
    parameters: { keyID: 'acme-mobile', 'If-Match': '"1"' },
    status: 412,
    answer: `
      {
        "status": "error",
        "message": "The key has version 2 by now, not 1.",
        "code": "CONFLICT",
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
  },
};
