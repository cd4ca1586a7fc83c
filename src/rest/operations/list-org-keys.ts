import { clampInt64, isInt64 } from '../../lib/int64.js';
import { isSearchText, searchTextRule } from '../../keys/alias-search.js';
import { keyStates, type KeyState, type StoredKey } from '../../keys/key.js';
import {
  defaultOrder,
  entriesOf,
  keyOrders,
  positionOfEntry,
  type KeyFilter,
  type KeyOrder,
  type PageEntry,
} from '../../keys/key-query.js';
import { nearest } from '../../lib/nearest.js';
import { malformedParameter, parseQuery } from '../../http/query-parameters.js';
import { jsonListResponse, type HTTPResponse } from '../../http/response.js';
import { cursorsOf } from '../../wire/list-cursor.js';
import { listLimitBytes, stringifyItemsWithin, unreadableItem } from '../key-list.js';
import { keyToJSON, withQuotas, type KeyWithQuota } from '../key-response.js';
import type { JSONSchema } from '../openapi/json-schema.js';
import { parseLimit, unknownParameter } from '../parameters.js';
import { defineRoute, type RouteCall } from '../route.js';
import { text, unreadableKeys } from './shared-docs.js';

const maxLimit = 100;

const filter = (name: string, description: string, schema: JSONSchema = text) => ({
  name,
  in: 'query',
  description,
  schema,
});

export const listOrgKeys = defineRoute({
  operation: 'orgKeys',
  method: 'GET',
  path: '/svc/org/keys',
  credential: 'service',
  errors: [],
  tag: 'Keys',
  summary: 'List organization keys',
  description:
    'Returns a page of keys that match all filters, ordered by alias with `alias_prefix` or `alias_contains` and by hash otherwise, or as `order_by` requests. Deleted keys are included only if `state` is DELETED. A page contains fewer keys than `limit`, and `next`, when the response would exceed 2 MiB. A key that fails its integrity check is in `errors`, and does not fail the page.',
  parameters: [
    filter('org_id', 'Keys of this organization.'),
    filter('alias_prefix', 'Keys whose alias begins with this text, case-sensitively.'),
    filter(
      'alias_contains',
      'Keys whose alias contains this text of at most 256 characters; upper and lower case of a letter are equal.',
    ),
    filter('tag', 'Keys with this tag.'),
    filter('policy', 'Keys with this policy.'),
    filter('api_id', 'Keys with access to the API of this identifier.'),
    filter('state', 'Keys in this state.', { type: 'string', enum: Object.keys(keyStates) }),
    filter('expires_before', 'Keys that expire before this time, in Unix seconds.', {
      type: 'integer',
      format: 'int64',
    }),
    filter('updated_since', 'Keys changed at this time or later, in Unix seconds.', {
      type: 'integer',
      format: 'int64',
    }),
    filter(
      'unused_since',
      'Keys that were not used at this time or later, in Unix seconds. Keys that were never used match.',
      { type: 'integer', format: 'int64' },
    ),
    filter('order_by', 'The order. Default: ALIAS with `alias_prefix` or `alias_contains`, otherwise KEY_HASH.', {
      type: 'string',
      enum: Object.keys(keyOrders),
    }),
    filter('descending', '1 reverses the order.', { type: 'integer', enum: [1] }),
    filter('limit', 'The maximum number of keys on the page. Default: 20.', {
      type: 'integer',
      minimum: 1,
      maximum: 100,
    }),
    filter('after', 'Returns the keys after this cursor, the `next` of the previous page.'),
  ],
  output: {
    name: 'OrgKeyList',
    members: {
      keys: { type: 'array', items: { $ref: '#/components/schemas/OrgKey' }, description: 'The keys.' },
    },
    optional: {
      next: { type: 'string', description: 'The cursor of the next page; absent on the last page.' },
      errors: unreadableKeys(
        'The keys of the page that cannot be read, because they fail their integrity check; absent if there are none.',
      ),
    },
  },
  success: 'OK',
  examples: {
    page: {
      summary: 'The first key of acme, and the cursor of the next page',
      parameters: { org_id: 'acme', limit: 1 },
      status: 200,
      response: `
        {
          "keys": [
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
              },
              "quota": { "used": 0, "remaining": -1 }
            }
          ],
          "next": "WyJ3WTI2cHNYbiIsIiIsIjU0MjliN2ZkYjNiMjQ0MzFmMmFlNmY0ZWE1NDA5YzU1NzI3NTA3N2JjYTU4ZGZjNmNkYzY0NDVlMjk4NzFlOWUiXQ"
        }`,
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

/** `GET /svc/org/keys`: a page of keys, with the cursor of the next page when there is one. */
async function handle({ caller, keys, query, nextStage }: RouteCall): Promise<HTTPResponse> {
  const { filter, limit, after, descending, ...order } = parsePage(query);
  const orderBy = order.orderBy ?? defaultOrder(filter);
  const cursors = cursorsOf({ filter, orderBy });
  const page = await keys.orgKeys(caller, {
    filter,
    orderBy,
    descending,
    limit: limit + 1,
    maxBytes: listLimitBytes,
    ...(after !== undefined && { after: cursors.decode(after, 'after') }),
  });
  const entries = entriesOf(page);
  const readable = entries.slice(0, limit).flatMap((entry) => ('key' in entry ? entry.key : []));
  const render = (shown: KeyWithQuota) => keyToJSON(keys, shown);
  const members = await stringifyItemsWithin(await withQuotas(keys, readable), render, nextStage);
  // The next page begins with the first key that would exceed the size of the response.
  const omitted = readable[members.length];
  const shown = entries.slice(0, limit).filter(beforeKey(omitted));
  const errors = shown.flatMap((entry) => ('key' in entry ? [] : unreadableItem(entry.position.keyHash)));
  const last = shown.at(-1);
  const hasMore = page.isCut || shown.length < entries.length;
  return jsonListResponse('keys', members, {
    ...(hasMore && last && { next: cursors.encode(positionOfEntry(last, orderBy)) }),
    ...(errors.length > 0 && { errors }),
  });
}

/** Returns a filter for the entries before this key; undefined includes all. */
function beforeKey(key: StoredKey | undefined): (entry: PageEntry) => boolean {
  let isBefore = true;
  return (entry) => (isBefore &&= !('key' in entry && entry.key === key));
}

type ParseFilter = (text: string, name: string) => Partial<KeyFilter>;

const parseSeconds = (text: string, name: string): bigint => {
  if (!/^-?\d{1,19}$/.test(text) || !isInt64(BigInt(text))) throw malformedParameter(name, 'must be Unix seconds');
  return BigInt(text);
};

const filters: Readonly<Record<string, ParseFilter>> = {
  org_id: (orgID) => ({ orgID }),
  alias_prefix: (aliasPrefix) => ({ aliasPrefix }),
  alias_contains: (aliasContains, name) => {
    if (!isSearchText(aliasContains)) throw malformedParameter(name, searchTextRule);
    return { aliasContains };
  },
  tag: (tag) => ({ tagsAll: [tag] }),
  policy: (policy) => ({ policy }),
  api_id: (apiID) => ({ apiID }),
  state: (text, name) => {
    const state = Object.keys(keyStates).find((known): known is KeyState => known === text);
    if (state === undefined) throw malformedParameter(name, `must be one of ${Object.keys(keyStates).join(', ')}`);
    return { states: [state] };
  },
  expires_before: (text, name) => ({ expiresBefore: parseSeconds(text, name) }),
  updated_since: (text, name) => ({ updatedSince: parseSeconds(text, name) }),
  unused_since: (text, name) => ({ unusedSince: clampInt64(parseSeconds(text, name) * 1000n) }),
};

interface ListedPage {
  readonly filter: KeyFilter;
  readonly orderBy: KeyOrder | undefined;
  readonly descending: boolean;
  readonly limit: number;
  readonly after: string | undefined;
}

/**
 * Parses the filters, the limit and the cursor of a query string.
 *
 * @throws {AppError} INVALID for a parameter that is unknown, repeated or malformed
 */
function parsePage(query: string): ListedPage {
  let orderBy: KeyOrder | undefined;
  let descending = false;
  let limit = 20;
  let after: string | undefined;
  const filter: Partial<KeyFilter> = {};
  for (const [name, text] of parseQuery(query)) {
    const parse = Object.hasOwn(filters, name) ? filters[name] : undefined;
    if (parse) Object.assign(filter, parse(text, name));
    else if (name === 'after') after = text;
    else if (name === 'order_by') {
      orderBy = Object.keys(keyOrders).find((known): known is KeyOrder => known === text);
      if (!orderBy) throw malformedParameter(name, `must be one of ${Object.keys(keyOrders).join(', ')}`);
    } else if (name === 'descending') {
      if (text !== '1') throw malformedParameter(name, 'must be 1 or absent');
      descending = true;
    } else if (name === 'limit') {
      limit = parseLimit(text, maxLimit);
    } else {
      // `first` is the name in GraphQL.
      const suggestion =
        name === 'first'
          ? 'limit'
          : nearest(name, [...Object.keys(filters), 'order_by', 'descending', 'after', 'limit']);
      throw unknownParameter(name, suggestion);
    }
  }
  return { filter, orderBy, descending, limit, after };
}
