import { nearest } from '../../lib/nearest.js';
import { AppError } from '../../lib/errors.js';
import { parseQuery } from '../../http/query-parameters.js';
import { jsonResponse, type HTTPResponse } from '../../http/response.js';
import { daysToText, totalsOf, type RequestedDays } from '../../keys/queries/read-use.js';
import { dayText } from '../../keys/use/use.js';
import { parseKeyID, unknownParameter } from '../parameters.js';
import { defineRoute, type RouteCall } from '../route.js';
import { int64, keyHash, keyID, text, unknownKey } from './shared-docs.js';

const day = (description: string) => ({ ...text, description });
const allowed = int64('Requests that were allowed.');
const denied = int64('Requests that were denied.');

export const getOrgKeyUsage = defineRoute({
  operation: 'orgKeyUsage',
  method: 'GET',
  path: '/svc/org/keys/*/usage',
  credential: 'service',
  errors: ['NOT_FOUND'],
  tag: 'Keys',
  summary: 'Read the use of an organization key by day',
  description:
    'Returns the requests that were verified, or consumed from the quota, by day in UTC, of the last 400 days. Up to ten seconds late. A service that is killed loses the requests that it has not written; quotas lose none.',
  parameters: [
    keyID,
    {
      name: 'from',
      in: 'query',
      description: 'The first day, such as 2026-01-31. Default: 29 days before `to`.',
      schema: text,
    },
    {
      name: 'to',
      in: 'query',
      description: 'The last day, at most 399 days after `from`. Default: today.',
      schema: text,
    },
  ],
  output: {
    name: 'OrgKeyUsage',
    members: {
      key_hash: keyHash,
      from: day('The first day.'),
      to: day('The last day.'),
      allowed,
      denied,
      days: {
        type: 'array',
        description: 'The days that have requests, in order.',
        items: {
          type: 'object',
          required: ['day', 'allowed', 'denied'],
          properties: { day: day('The day.'), allowed, denied },
        },
      },
    },
  },
  success: 'OK',
  examples: {
    january: {
      summary: 'A month without requests',
      parameters: { keyID: 'acme-mobile', from: '2025-01-01', to: '2025-01-31' },
      status: 200,
      response: `
        {
          "key_hash": "5429b7fdb3b24431f2ae6f4ea5409c557275077bca58dfc6cdc6445e29871e9e",
          "from": "2025-01-01",
          "to": "2025-01-31",
          "allowed": 0,
          "denied": 0,
          "days": []
        }`,
    },
    mistakes: {
      summary: 'A day that does not exist',
      parameters: { keyID: 'acme-mobile', from: '2025-02-30' },
      status: 400,
      response: `
        {
          "status": "error",
          "message": "The days are not valid.",
          "code": "INVALID",
          "issues": [{ "path": "from", "code": "MALFORMED_DATE", "message": "must be a day such as 2026-01-31" }],
          "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
        }`,
    },
    unknownKey,
  },
  handle,
});

/** `GET /svc/org/keys/{keyID}/usage`: the requests of a key by day, also of a deleted one until it is purged. */
async function handle({ caller, keys, wildcard, query }: RouteCall): Promise<HTTPResponse> {
  const range = keys.useRangeOf(daysFrom(query));
  const key = await keys.orgKey(caller, { keyID: parseKeyID(wildcard) }, { includeDeleted: true });
  const [usage] = key ? await keys.usesOf(caller, [key], range) : [];
  if (!key || !usage) throw new AppError('NOT_FOUND', 'There is no such key.');
  return jsonResponse({
    key_hash: key.keyHash,
    from: dayText(range.from),
    to: dayText(range.to),
    ...totalsOf(usage),
    days: daysToText(usage),
  });
}

const names = ['from', 'to'] as const;

/** @throws {AppError} INVALID for a parameter that is unknown or repeated. */
function daysFrom(query: string): RequestedDays {
  const days: { from?: string; to?: string } = {};
  for (const [name, value] of parseQuery(query)) {
    const known = names.find((one) => one === name);
    if (!known) throw unknownParameter(name, nearest(name, names));
    days[known] = value;
  }
  return days;
}
