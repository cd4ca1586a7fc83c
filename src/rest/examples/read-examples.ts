import type { Example, Examples } from './example.js';

/** Every operation on a key answers it alike. */
export const malformed: Example = {
  summary: 'An identifier with a slash in it',
  parameters: { keyID: 'acme/billing' },
  status: 400,
  answer: `
      {
        "status": "error",
        "message": "The key identifier is not valid.",
        "code": "INVALID",
        "issues": [
          { "path": "keyID", "code": "MALFORMED_KEY_ID", "message": "must not hold a slash or a backslash" }
        ],
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
};

/** And this, whatever else it was asked. */
export const unknownKey: Example = {
  summary: 'A key that does not exist',
  parameters: { keyID: 'acme-nothing' },
  status: 404,
  answer: `
      {
        "status": "error",
        "message": "There is no such key.",
        "code": "NOT_FOUND",
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
};

/** Of `orgKey`. */
export const readExamples: Examples = {
  key: {
    summary: 'A key with its live quota',
    parameters: { keyID: 'acme-billing' },
    status: 200,
    answer: `
      {
        "key": "acme-billing",
        "key_hash": "8805bb626b61fcb32e4c55b535399c92ecc8c2bb0dcaa3d327ec5a19da7adbd4",
        "version": 1,
        "state": "ACTIVE",
        "data": {
          "access_rights": {
            "invoices": {
              "api_id": "invoices",
              "api_name": "Invoices",
              "versions": ["Default"],
              "allowed_urls": [{ "methods": ["GET", "POST"], "url": "/invoices/.*" }]
            }
          },
          "alias": "Billing, production",
          "apply_policies": ["gold"],
          "date_created": "2026-01-31T12:00:00.000Z",
          "last_updated": "1769860800",
          "org_id": "acme",
          "per": 60,
          "quota_max": 10000,
          "quota_remaining": 1880,
          "quota_renewal_rate": 2592000,
          "rate": 100,
          "tags": ["billing", "production"]
        },
        "quota": { "used": 8120, "remaining": 1880, "renews_at": 1772452800 }
      }`,
    etag: '"1"',
  },
  malformed,
  unknownKey,
};

/** Of `orgKeys`. */
export const listExamples: Examples = {
  page: {
    summary: 'The first key of acme, and where to go on',
    parameters: { org_id: 'acme', limit: 1 },
    status: 200,
    answer: `
      {
        "keys": [
          {
            "key": "acme-mobile",
            "key_hash": "5429b7fdb3b24431f2ae6f4ea5409c557275077bca58dfc6cdc6445e29871e9e",
            "version": 1,
            "state": "ACTIVE",
            "data": {
              "access_rights": {
                "catalogue": { "api_id": "catalogue", "api_name": "Catalogue", "versions": ["Default"] }
              },
              "alias": "Mobile application",
              "date_created": "2026-01-31T12:00:00.000Z",
              "last_updated": "1769860800",
              "org_id": "acme",
              "per": 1,
              "quota_max": -1,
              "rate": 20,
              "tags": ["mobile"]
            },
            "quota": { "used": 0, "remaining": -1 }
          }
        ],
        "next": "5429b7fdb3b24431f2ae6f4ea5409c557275077bca58dfc6cdc6445e29871e9e"
      }`,
  },
  mistakes: {
    summary: 'A page without a key on it',
    parameters: { limit: 0 },
    status: 400,
    answer: `
      {
        "status": "error",
        "message": "A parameter of the request is not valid.",
        "code": "INVALID",
        "issues": [{ "path": "limit", "code": "MALFORMED_ARGUMENT", "message": "must be from 1 to 100" }],
        "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
      }`,
  },
};
