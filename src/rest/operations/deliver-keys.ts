import { AppError, errorCodeOf } from '../../lib/errors.js';
import { nearest } from '../../lib/nearest.js';
import { maxDelivered, type DeliveredKey } from '../../keys/deliver.js';
import { keyStates } from '../../keys/key.js';
import { malformedParameter, parseQuery } from '../../http/query-parameters.js';
import { jsonListResponse, jsonResponse, type HTTPResponse } from '../../http/response.js';
import { definitionToWire } from '../../wire/field-names.js';
import { nameCursors } from '../../wire/list-cursor.js';
import { stringifyItemsWithin, unreadableItem } from '../key-list.js';
import { identifierMembers } from '../key-response.js';
import { parseKeyID, parseLimit, rejectParameters, unknownParameter } from '../parameters.js';
import { defineRoute, type RouteCall } from '../route.js';
import {
  identifierHash,
  keyHash,
  keyID,
  malformed,
  rotation,
  text,
  unknownKey,
  unreadableKeys,
} from './shared-docs.js';

const purpose =
  'For an adapter that keeps a copy of the keys in a gateway. Needs a credential whose scope `deliver` was named. Each read is in the audit log.';

const keyWithSecrets = {
  members: {
    key: { type: 'string', description: 'The key identifier.' },
    key_hash: keyHash,
    version: { type: 'integer', description: 'The version of the key, from 1. Every change increments it.' },
    state: { type: 'string', enum: Object.keys(keyStates), description: 'The state of the key.' },
    data: { $ref: '#/components/schemas/DeliveredKeyDefinition' },
  },
  optional: { identifier_hash: identifierHash, rotation },
};

/** The first key of the samples, which has no secrets: those differ each time. */
const mobile = `
{
              "key": "acme-mobile",
              "key_hash": "5429b7fdb3b24431f2ae6f4ea5409c557275077bca58dfc6cdc6445e29871e9e",
              "version": 1,
              "state": "ACTIVE",
              "data": {
                "access_rights": {
                  "catalog": { "api_id": "catalog", "api_name": "Catalog", "versions": ["Default"] }
                },
                "alias": "Mobile application",
                "date_created": "2026-01-31T12:00:00.000Z",
                "last_updated": "1769860800",
                "org_id": "acme",
                "per": 1,
                "quota_max": -1,
                "rate": 20,
                "tags": ["mobile"]
              }
            }`;

export const deliverKey = defineRoute({
  operation: 'deliverKey',
  method: 'GET',
  path: '/svc/org/keys/*/deliver',
  credential: 'service',
  errors: ['NOT_FOUND'],
  tag: 'Keys',
  summary: 'Read an organization key with its secrets',
  description: `Returns the definition with the hash of the password and the secrets in clear. ${purpose}`,
  parameters: [keyID],
  output: { name: 'DeliveredKey', ...keyWithSecrets },
  success: 'OK',
  isVersioned: true,
  examples: {
    key: {
      summary: 'A key without secrets',
      parameters: { keyID: 'acme-mobile' },
      status: 200,
      response: mobile,
      etag: '"1"',
    },
    malformed,
    unknownKey,
  },
  /** `GET /svc/org/keys/{keyID}/deliver`: a key with its secrets. */
  async handle({ caller, keys, wildcard, query }: RouteCall): Promise<HTTPResponse> {
    rejectParameters(query);
    const key = await keys.deliverKey(caller, { keyID: parseKeyID(wildcard) });
    if (!key) throw new AppError('NOT_FOUND', 'There is no such key.');
    return jsonResponse(deliveredToJSON(key), 200, { etag: `"${key.version}"` });
  },
});

export const deliverKeys = defineRoute({
  operation: 'deliverKeys',
  method: 'GET',
  path: '/svc/keys/deliver',
  credential: 'service',
  errors: [],
  tag: 'Keys',
  summary: 'List keys with their secrets',
  description: `Returns a page of the keys that are not deleted, ordered by hash, with the hashes of their passwords and their secrets in clear. A page of large keys has fewer than \`limit\`. A key that fails its integrity check, or whose secret cannot be opened, is in \`errors\`, and does not fail the page: keep your copy of it. ${purpose}`,
  parameters: [
    { name: 'org_id', in: 'query', description: 'Keys of this organization.', schema: text },
    {
      name: 'key_hash',
      in: 'query',
      description: 'The key with this hash, as webhooks name it; no key if there is none. Not with other parameters.',
      schema: text,
    },
    {
      name: 'limit',
      in: 'query',
      description: `The maximum number of keys on the page. Default: ${maxDelivered}.`,
      schema: { type: 'integer', minimum: 1, maximum: maxDelivered },
    },
    {
      name: 'after',
      in: 'query',
      description: 'Returns the keys after this cursor, the `next` of the previous page.',
      schema: text,
    },
  ],
  output: {
    name: 'DeliveredKeyList',
    members: {
      keys: { type: 'array', items: { $ref: '#/components/schemas/DeliveredKey' }, description: 'The keys.' },
    },
    optional: {
      next: { type: 'string', description: 'The cursor of the next page; absent on the last page.' },
      errors: unreadableKeys('The keys of the page that cannot be read; absent if there are none.'),
    },
  },
  success: 'OK',
  examples: {
    page: {
      summary: 'The first key of acme, and the cursor of the next page',
      parameters: { org_id: 'acme', limit: 1 },
      status: 200,
      response: `{ "keys": [${mobile}], "next": "WyJuYW1lcyIsIjU0MjliN2ZkYjNiMjQ0MzFmMmFlNmY0ZWE1NDA5YzU1NzI3NTA3N2JjYTU4ZGZjNmNkYzY0NDVlMjk4NzFlOWUiXQ" }`,
    },
    mistakes: {
      summary: 'A limit of 0',
      parameters: { limit: 0 },
      status: 400,
      response: `
        {
          "status": "error",
          "message": "A parameter of the request is not valid.",
          "code": "INVALID",
          "issues": [{ "path": "limit", "code": "MALFORMED_ARGUMENT", "message": "must be from 1 to 100" }],
          "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
        }`,
    },
  },
  handle,
});

/** `GET /svc/keys/deliver`: a page of keys with their secrets, or the one with a hash. */
async function handle({ caller, keys, query, nextStage }: RouteCall): Promise<HTTPResponse> {
  const { keyHash: hash, ...request } = parsePage(query);
  const page =
    hash === undefined
      ? await keys.deliverKeys(caller, request)
      : { items: await itemsOf(hash, keys.deliverKey(caller, { keyHash: hash })), hasMore: false };
  const readable = page.items.flatMap(({ key }) => (key instanceof Error ? [] : [key]));
  const errors = page.items.flatMap(({ keyHash: ofItem, key }) =>
    key instanceof Error ? [unreadableItem(ofItem)] : [],
  );
  const last = page.items.at(-1);
  return jsonListResponse('keys', await stringifyItemsWithin(readable, deliveredToJSON, nextStage), {
    ...(page.hasMore && last && { next: nameCursors.encode(last.keyHash) }),
    ...(errors.length > 0 && { errors }),
  });
}

async function itemsOf(keyHash: string, found: Promise<DeliveredKey | undefined>) {
  try {
    const key = await found;
    return key ? [{ keyHash, key }] : [];
  } catch (error) {
    if (!(error instanceof Error) || errorCodeOf(error) !== 'INTERNAL') throw error;
    return [{ keyHash, key: error }];
  }
}

/** The key with its secrets as an object of the REST API. */
function deliveredToJSON(delivered: DeliveredKey): object {
  return {
    key: delivered.keyID ?? null,
    key_hash: delivered.keyHash,
    version: delivered.version,
    state: delivered.state,
    data: definitionToWire(delivered.definition),
    ...identifierMembers(delivered),
  };
}

const names = ['org_id', 'key_hash', 'limit', 'after'] as const;

/** @throws {AppError} INVALID for a parameter that is unknown, repeated or malformed. */
function parsePage(query: string) {
  const parameters = parseQuery(query);
  for (const name of parameters.keys()) {
    if (names.every((known) => known !== name)) {
      throw unknownParameter(name, name === 'first' ? 'limit' : nearest(name, names));
    }
  }
  const [keyHash, after, limit] = [parameters.get('key_hash'), parameters.get('after'), parameters.get('limit')];
  if (keyHash !== undefined && parameters.size > 1) {
    throw malformedParameter('key_hash', 'must not be combined with other parameters');
  }
  return {
    keyHash,
    orgID: parameters.get('org_id'),
    afterHash: after === undefined ? undefined : nameCursors.decode(after, 'after'),
    limit: limit === undefined ? maxDelivered : parseLimit(limit, maxDelivered),
  };
}
