// Generates the most expensive REST requests from the table of routes and their documented parameters.
import { valuesOfFilter, metaDataOf } from './samples.mjs';

const bodyBytes = 256 * 1024;
/** A route's documented parameter by the name of the filter in GraphQL. */
const filterNames = {
  org_id: 'orgID',
  alias_prefix: 'aliasPrefix',
  tag: 'tag',
  policy: 'policy',
  api_id: 'apiID',
  expires_before: 'expiresBefore',
  updated_since: 'updatedSince',
};

/** Bodies of 256 KiB, each expensive in another way. */
export const bodies = {
  'long values': { body: JSON.stringify({ meta_data: Array(4).fill('x'.repeat(65_500)) }), statuses: [200, 400] },
  'as many members as there may be': { body: JSON.stringify({ meta_data: metaDataOf(9_990, 'x') }), statuses: [200] },
  'too many members': { body: JSON.stringify({ meta_data: metaDataOf(11_500, 'x') }), statuses: [400] },
  'unknown fields': { body: filled('{', (n) => `"${n}":1`, '}'), statuses: [400] },
  'unknown fields with escapes': { body: filled('{', (n) => `"\\u0061${n}":1`, '}'), statuses: [400] },
  'values of the wrong type': { body: filled('{"tags":[', () => '1', ']}'), statuses: [400] },
  'long lists': { body: filled('{"tags":[', (n) => `"t${n}"`, ']}'), statuses: [400] },
  'access rights without members': {
    body: filled('{"access_rights":{', (n) => `"a${n}":{}`, '}}'),
    statuses: [200, 400],
  },
  'access rights with unknown members': {
    body: filled('{"access_rights":{', (n) => `"a${n}":{"x":1}`, '}}'),
    statuses: [400],
  },
  'a member twice at the end': { body: filled('{', (n) => `"a${n}":1`, ',"a0":1}'), statuses: [400] },
  'a long number': { body: `{"rate":${'9'.repeat(bodyBytes - 20)}}`, statuses: [400] },
  'a long alias': { body: JSON.stringify({ alias: 'x'.repeat(bodyBytes - 40) }), statuses: [400] },
  'escaped text': { body: `{"meta_data":{"notes":"${'\\u0061'.repeat(43_000)}"}}`, statuses: [200] },
};

/** @param {string} head @param {(n: number) => string} part @param {string} tail */
function filled(head, part, tail) {
  const parts = [];
  for (let length = head.length + tail.length, n = 0; ; n += 1) {
    const next = part(n);
    length += next.length + 1;
    if (length > bodyBytes) return `${head}${parts.join()}${tail}`;
    parts.push(next);
  }
}

/**
 * @param {object} parts
 * @param {readonly { operation: string, method: string, path: string, credential: string, parameters: readonly Record<string, any>[] }[]} parts.routes
 * @param {{ keyIDOf: (n: number) => string, hashOf: (n: number) => string }} parts.population
 * @returns {import('./samples.mjs').Operation[]}
 */
export function restOperations({ routes, population }) {
  return routes.flatMap((route) => {
    const { operation, method, credential } = route;
    const at = (n) => route.path.replace('*', population.keyIDOf(n));
    const one = (what, more = {}) => ({
      name: `REST ${operation}${what ? `: ${what}` : ''}`,
      credential,
      method,
      path: at(0),
      statuses: [200],
      ...more,
    });
    switch (operation) {
      case 'orgKeys':
        return listQueries(route.parameters, population).map(({ name, query }) =>
          one(name, { path: `${route.path}?${query}` }),
        );
      case 'orgKey':
        return [one('')];
      case 'previewKey':
        return Object.entries(bodies).map(([name, { body, statuses }]) => one(name, { body: () => body, statuses }));
      case 'updateOrgKey':
        return Object.entries(bodies).map(([name, { body, statuses }]) =>
          one(name, { path: `${at(2)}?reset_quota=1`, body: () => body, statuses, isChange: true }),
        );
      case 'createOrgKey': {
        let created = 0;
        const text = JSON.stringify({ org_id: 'big', meta_data: metaDataOf(9_990, 'x') });
        return [
          one('', {
            path: () => `${route.path.replace('*', `bench-rest-${(created += 1)}`)}`,
            body: () => text,
            isChange: true,
          }),
        ];
      }
      case 'deleteOrgKey':
        return [one('', { path: at(6), isChange: true })];
      case 'restoreOrgKey':
        return [one('', { path: at(6), isChange: true })];
      case 'consumeOrgQuota':
        return [one('', { path: at(4), isChange: true })];
      default:
        throw new Error(`The route ${operation} has no request in test/bench/blocking/rest-operations.mjs.`);
    }
  });
}

/** Each filter alone, each with each state, and pages from the middle. */
function listQueries(parameters, { hashOf }) {
  const queries = [{ name: 'no filter', query: 'limit=100' }];
  const states = parameters.find(({ name }) => name === 'state').schema.enum;
  for (const { name, in: where } of parameters) {
    if (where !== 'query' || name === 'limit') continue;
    if (name === 'after') {
      queries.push({ name: 'from the middle', query: `limit=100&after=${hashOf(1)}` });
      continue;
    }
    const values =
      name === 'state' ? Object.fromEntries(states.map((s) => [s, s])) : valuesOfFilter(filterNames[name] ?? name);
    for (const [kind, value] of Object.entries(values)) {
      const query = `limit=100&${name}=${encodeURIComponent(value)}`;
      queries.push({ name: `${name} ${kind}`, query });
      if (name === 'state' || kind !== 'broad') continue;
      for (const state of states)
        queries.push({ name: `${name} ${kind} and ${state}`, query: `${query}&state=${state}` });
    }
  }
  return queries;
}
