// Generates the most expensive REST requests from the routes and their documented parameters.
import { randomInt } from 'node:crypto';
import { nameCursors } from '../../../build/wire/list-cursor.js';
import { metaDataOf, runID, valuesOfFilter } from './samples.mjs';

const bodyBytes = 256 * 1024;
/** The parameters of routes by the name of the filter in GraphQL. */
const filterNames = {
  org_id: 'orgID',
  alias_prefix: 'aliasPrefix',
  alias_contains: 'aliasContains',
  tag: 'tag',
  policy: 'policy',
  api_id: 'apiID',
  expires_before: 'expiresBefore',
  updated_since: 'updatedSince',
  unused_since: 'unusedSince',
};

/**
 * Returns bodies with the maximum number of bytes or values, each expensive in another way.
 *
 * @param {{ bytes: number, values: number }} limit
 */
export function bodiesOf(limit) {
  const { bytes } = limit;
  const notes = (/** @type {string} */ letter, /** @type {number} */ length) =>
    `{"meta_data":{"notes":"${letter.repeat(Math.floor((bytes - 60) / length))}"}}`;
  const filled = (head, part, tail, each = 1) => filledTo(limit, head, part, tail, each);
  return {
    'long values': {
      body: JSON.stringify({ meta_data: Array(4).fill('x'.repeat(Math.floor(bytes / 4) - 36)) }),
      statuses: [200, 400],
    },
    'as many members as there may be': {
      body: JSON.stringify({ meta_data: metaDataOf(Math.min(9_990, Math.floor(bytes / 20)), 'x') }),
      statuses: [200],
    },
    'too many members': {
      body: JSON.stringify({ meta_data: metaDataOf(Math.min(11_500, Math.floor(bytes / 11)), '') }),
      statuses: [400],
    },
    'more values than there may be': { body: `{"tags":[${'1,'.repeat(bytes / 2 - 10)}1]}`, statuses: [413] },
    'unknown fields': { body: filled('{', (n) => `"${n}":1`, '}'), statuses: [400] },
    'unknown fields with escapes': { body: filled('{', (n) => `"\\u0061${n}":1`, '}'), statuses: [400] },
    'values of the wrong type': { body: filled('{"tags":[', () => '1', ']}'), statuses: [400] },
    'long lists': { body: filled('{"tags":[', (n) => `"t${n}"`, ']}'), statuses: [400] },
    'access rights without members': {
      body: filled('{"access_rights":{', (n) => `"a${n}":{}`, '}}', 2),
      statuses: [200, 400],
    },
    'access rights with unknown members': {
      body: filled('{"access_rights":{', (n) => `"a${n}":{"x":1}`, '}}', 2),
      statuses: [400],
    },
    'access rights with URLs': {
      body: JSON.stringify({
        access_rights: Object.fromEntries(
          Array.from({ length: 11 }, (_, n) => [
            `a${n}`,
            {
              allowed_urls: Array.from({ length: Math.min(500, Math.floor(bytes / 200)) }, (_, u) => ({
                url: `/${u}`,
              })),
            },
          ]),
        ),
      }),
      statuses: [200],
    },
    'a member twice at the end': { body: filled('{', (n) => `"a${n}":1`, ',"a0":1}'), statuses: [400] },
    'a long number': { body: `{"rate":${'9'.repeat(bytes - 20)}}`, statuses: [400] },
    'a long alias': { body: JSON.stringify({ alias: 'x'.repeat(bytes - 40) }), statuses: [400] },
    'escaped text': { body: notes('\\u0061', 6), statuses: [200] },
  };
}

/**
 * Returns a text with the maximum number of parts within the limits, each of which has `each` values.
 *
 * @param {{ bytes: number, values: number }} limit
 * @param {string} head
 * @param {(n: number) => string} part
 * @param {string} tail
 * @param {number} each
 */
function filledTo(limit, head, part, tail, each) {
  const parts = [];
  for (let length = head.length + tail.length, n = 0; ; n += 1) {
    const next = part(n);
    length += next.length + 1;
    // Reserves values for the head and the tail.
    if (length > limit.bytes || (n + 1) * each > limit.values - 10) return `${head}${parts.join()}${tail}`;
    parts.push(next);
  }
}

/**
 * @param {object} parts
 * @param {readonly { operation: string, method: string, path: string, credential: string, parameters: readonly Record<string, any>[] }[]} parts.routes
 * @param {{ keyIDOf: (n: number) => string, cursorOf: (n: number) => string }} parts.population
 * @param {number} parts.maxValues
 * @returns {import('./samples.mjs').Operation[]}
 */
export function restOperations({ routes, population, maxValues }) {
  const bodies = bodiesOf({ bytes: bodyBytes, values: maxValues });
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
      case 'patchOrgKey': {
        const text = JSON.stringify({ meta_data: metaDataOf(9_990, 'x') });
        return [one('', { path: `${at(2)}?reset_quota=1`, body: () => text, isChange: true })];
      }
      case 'generateOrgKey': {
        const text = JSON.stringify({ org_id: 'big', meta_data: metaDataOf(9_990, 'x') });
        return [one('', { path: `${route.path}?prefix=bench_`, body: () => text, isChange: true })];
      }
      case 'createOrgKey': {
        let created = 0;
        const text = JSON.stringify({ org_id: 'big', meta_data: metaDataOf(9_990, 'x') });
        return [
          one('', {
            path: () => `${route.path.replace('*', `bench-rest-${runID}-${(created += 1)}`)}`,
            body: () => text,
            isChange: true,
          }),
        ];
      }
      case 'deleteOrgKey':
        return [one('', { path: at(6), isChange: true })];
      case 'restoreOrgKey':
        return [one('', { path: at(6), isChange: true })];
      case 'rotateOrgKey':
        // A key without a history that no earlier run in the same folder has rotated.
        return [
          one('', {
            path: at(2 * randomInt(10, Math.floor(population.count / 2)) + 1),
            body: () => '{"overlap":0}',
            isChange: true,
          }),
        ];
      case 'cancelKeyRotation':
        // No rotation of the key runs: it is read and rejected.
        return [one('', { path: at(7), statuses: [409], isChange: true })];
      case 'orgKeyUsage':
        return [one('of 400 days', { path: `${at(4)}?from=2025-01-01&to=2026-02-04` })];
      case 'deliverKey':
        return [one('')];
      case 'deliverKeys':
        return [
          one('', { path: route.path }),
          one('from the middle', { path: `${route.path}?after=${nameCursors.encode(population.hashOf(1))}` }),
        ];
      case 'consumeOrgQuota':
        return [one('', { path: at(4), isChange: true })];
      case 'verifyKeys': {
        const paths = ['/', `/${'ab'.repeat(1_000)}`, `/${'%61'.repeat(600)}`];
        return paths.map((path) => {
          const request = (_, n) => ({ key_id: population.keyIDOf(n % 5), api: 'invoices', method: 'GET', path });
          const text = JSON.stringify({ requests: Array.from({ length: 100 }, request) });
          return one(`a path of ${path.length} characters`, { body: () => text, isChange: true });
        });
      }
      default:
        throw new Error(`The route ${operation} has no request in test/bench/blocking/rest-operations.mjs.`);
    }
  });
}

/** Returns queries with each filter alone, with each state, and with a cursor in the middle. */
function listQueries(parameters, { cursorOf }) {
  const queries = [{ name: 'no filter', query: 'limit=100' }];
  const enumOf = (parameter) => parameters.find(({ name }) => name === parameter).schema.enum;
  const states = enumOf('state');
  const orders = enumOf('order_by').flatMap((order) => [order, `${order}&descending=1`]);
  queries.push(...orders.map((order) => ({ name: `by ${order}`, query: `limit=100&order_by=${order}` })));
  for (const { name, in: where } of parameters) {
    if (where !== 'query' || ['limit', 'order_by', 'descending'].includes(name)) continue;
    if (name === 'after') {
      queries.push({ name: 'from the middle', query: `limit=100&after=${cursorOf(1)}` });
      continue;
    }
    const values =
      name === 'state' ? Object.fromEntries(states.map((s) => [s, s])) : valuesOfFilter(filterNames[name] ?? name);
    for (const [kind, value] of Object.entries(values)) {
      const query = `limit=100&${name}=${encodeURIComponent(/_(before|since)$/.test(name) ? Date.parse(value) / 1000 : value)}`;
      queries.push({ name: `${name} ${kind}`, query });
      if (name === 'state' || kind !== 'broad') continue;
      for (const state of states)
        queries.push({ name: `${name} ${kind} and ${state}`, query: `${query}&state=${state}` });
    }
  }
  return queries;
}
