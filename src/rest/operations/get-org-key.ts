import { AppError } from '../../lib/errors.js';
import { keyStates } from '../../keys/key.js';
import { jsonResponse, type HTTPResponse } from '../../http/response.js';
import { keyToJSON, withQuotas } from '../key-response.js';
import { parseFlag, parseKeyID } from '../parameters.js';
import { defineRoute, type RouteCall } from '../route.js';
import { identifierHash, int64, keyHash, keyID, malformed, rotation, unknownKey } from './shared-docs.js';

const orgKey = {
  name: 'OrgKey',
  members: {
    key: { type: 'string', description: 'The key identifier.' },
    key_hash: keyHash,
    version: { type: 'integer', description: 'The version of the key, from 1. Every change increments it.' },
    state: { type: 'string', enum: Object.keys(keyStates), description: 'The state of the key.' },
    data: { $ref: '#/components/schemas/StoredKeyDefinition' },
    quota: {
      type: 'object',
      description: 'The live quota.',
      required: ['used', 'remaining'],
      properties: {
        used: int64('Requests counted in the current period.'),
        remaining: int64('Requests left in the current period; -1 when unlimited.'),
        renews_at: int64('When the period ends, in Unix seconds; absent when the quota does not renew.'),
      },
    },
  },
  optional: {
    last_used_at: {
      type: 'string',
      format: 'date-time',
      description:
        'When the key was last used by a request that was verified or consumed here, up to ten seconds late; absent if never.',
    },
    identifier_hash: identifierHash,
    rotation,
  },
};

export const getOrgKey = defineRoute({
  operation: 'orgKey',
  method: 'GET',
  path: '/svc/org/keys/*',
  credential: 'service',
  errors: ['NOT_FOUND'],
  tag: 'Keys',
  summary: 'Read an organization key',
  description: 'Returns the definition without its secrets, and the live quota.',
  parameters: [
    keyID,
    {
      name: 'include_deleted',
      in: 'query',
      description: '1 finds a deleted key too, until it is purged.',
      schema: { type: 'integer', enum: [1] },
    },
  ],
  output: orgKey,
  success: 'OK',
  isVersioned: true,
  examples: {
    key: {
      summary: 'A key with its live quota',
      parameters: { keyID: 'acme-billing' },
      status: 200,
      response: `
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
  },
  handle,
});

/**
 * `GET /svc/org/keys/{keyID}`: the definition without its secrets. The `ETag` is the key's version, for `If-Match`. There
 * is no 304: the state and the live quota change while the version stays.
 */
async function handle({ caller, keys, wildcard, query }: RouteCall): Promise<HTTPResponse> {
  const includeDeleted = parseFlag(query, 'include_deleted');
  const key = await keys.orgKey(caller, { keyID: parseKeyID(wildcard) }, { includeDeleted });
  if (!key) throw new AppError('NOT_FOUND', 'There is no such key.');
  const [shown] = await withQuotas(keys, [key]);
  if (!shown) throw new AppError('INTERNAL', 'The key has no quota figures.');
  return jsonResponse(keyToJSON(keys, shown), 200, { etag: `"${key.version}"` });
}
