// The values in generated operations: identifiers of the population, filters, and the largest bodies.
import { randomUUID } from 'node:crypto';
import { getNamedType, isEnumType } from 'graphql';

/**
 * @typedef {object} Operation
 * @property {string} name
 * @property {'management' | 'service' | 'bound' | 'router'} credential
 * @property {string} method
 * @property {string} path
 * @property {(() => string) | undefined} [body]
 * @property {string} [query] the GraphQL document, for tests
 * @property {boolean} [isChange] whether it changes stored keys; it runs once, after all others
 * @property {readonly number[]} [statuses] the expected statuses; default: 200
 */

/** @typedef {ReturnType<typeof createSamples>} Samples */

/** Distinguishes the keys of this run from those of earlier runs in the same folder. */
export const runID = randomUUID().slice(0, 8);

/** After every expiry and every change. */
const farFuture = '2100-01-01T00:00:00Z';
const farPast = '1970-01-01T00:00:01Z';

/**
 * The values of each filter: one that matches nearly every key and, if that is more expensive, one that matches none,
 * for which the service reads every key.
 */
const filterValues = {
  keyIDs: { broad: Array.from({ length: 100 }, (_, n) => `absent-${n}`) },
  keyHashes: { broad: Array.from({ length: 100 }, (_, n) => String(n).padStart(64, '0')) },
  orgID: { broad: 'big' },
  aliasPrefix: { broad: 'C', none: 'Customer 9999999' },
  aliasContains: { broad: 'ustomer', none: 'absent' },
  tag: { broad: 'production', none: 'absent' },
  tagsAny: { broad: ['production'], none: ['absent'] },
  tagsAll: { broad: ['production'], none: ['absent'] },
  policy: { broad: 'gold', none: 'absent' },
  apiID: { broad: 'invoices', none: 'absent' },
  expiresBefore: { broad: farFuture, none: farPast },
  updatedSince: { broad: farPast, none: farFuture },
  unusedSince: { broad: farFuture, none: farPast },
};

/** @param {string} field @param {unknown} type */
export function valuesOfFilter(field, type) {
  if (isEnumType(type)) return Object.fromEntries(type.getValues().map(({ name }) => [name, name]));
  const values = filterValues[field];
  if (!values) throw new Error(`The filter ${field} has no sample value in test/bench/blocking/samples.mjs.`);
  return values;
}

/** Returns every value of every filter alone, and every pair of filters with their broad values and every state. */
export function filterVariants(schema) {
  const fields = Object.values(schema.getType('OrgKeyFilter').getFields());
  const all = fields.flatMap(({ name, type }) =>
    Object.entries(valuesOfFilter(name, getNamedType(type))).map(([kind, value]) => ({ field: name, kind, value })),
  );
  const singles = all.map(({ field, kind, value }) => ({
    name: `${field} ${kind}`,
    value: { [field]: value },
    fields: 1,
  }));
  const wide = all.filter(({ kind }) => kind !== 'none');
  const pairs = wide.flatMap((one, index) =>
    wide.slice(index + 1).flatMap((other) =>
      one.field === other.field
        ? []
        : [
            {
              name: `${one.field} ${one.kind} and ${other.field} ${other.kind}`,
              value: { [one.field]: one.value, [other.field]: other.value },
              fields: 2,
            },
          ],
    ),
  );
  return [...singles, ...pairs];
}

/**
 * @param {{ keyIDOf: (n: number) => string, hashOf: (n: number) => string, kind: import('./keys.mjs').Kind, count: number }} population
 */
export function createSamples({ keyIDOf, hashOf, kind, count }) {
  const numbers = Array.from({ length: Math.min(100, count) }, (_, n) => n);
  const organizations = ['big', ...Array.from({ length: 99 }, (_, n) => `org-${n}`)];
  let created = 0;
  const input = { alias: 'bench', quotaMax: 1, metaData: metaDataOf(6_000, 'x') };
  // The maximum number of values, for 200 keys.
  const patch = { tags: ['bench'], metaData: metaDataOf(490, 'y') };
  const values = {
    // The keys with a long history, all of the organization of the bound credential.
    keyID: (index) => keyIDOf((index % 3) * 2),
    by: (index) => ({ keyHash: hashOf((index % 3) * 2) }),
    id: (index) => Buffer.from(`OrgKey:${hashOf((index % 3) * 2)}`).toString('base64'),
    first: (_, first) => first,
    dryRun: () => true,
    resetQuota: () => true,
    toVersion: () => 1,
    amount: () => 1,
    input: () => input,
    patch: () => patch,
    filter: () => ({}),
    // The largest policy that a request can have, with the name that every key has.
    policy: () => policyOf('gold'),
    policies: () => [policyOf('gold'), { policyID: 'silver', rate: 1, per: 1 }],
    policyID: () => 'gold',
    policyIDs: () => ['gold'],
    prune: () => false,
    api: () => 'api-0',
    version: () => undefined,
    method: () => 'GET',
    path: () => `/${'a'.repeat(2047)}`,
    proofs: () => undefined,
    at: () => undefined,
    // The maximum number of names. None of them has acknowledged anything.
    gateways: () => Array.from({ length: 100 }, (_, n) => `gateway-${n}`),
    names: () => Array.from({ length: 100 }, (_, n) => `gateway-${n}`),
    gateway: () => 'gateway-0',
    // Before the first change: every key has changed since.
    cursor: () => Buffer.from('0.0.').toString('base64url'),
    // More credentials than the limit of 24 hours: CONFLICT.
    label: () => 'bench',
    kind: () => ({ literal: 'SERVICE' }),
    scopes: () => ({ literal: '[READ]' }),
    overlapHours: () => 0,
    // No webhook is tested: none has the identifier of a key.
    url: () => 'https://hooks.example.com/bench',
    eventTypes: () => ['orgKey.deleted'],
    // The changes of a proposal have at most 256 KiB: they cannot replace the metaData of a large key.
    change: () => ({ patch: { patch: kind === 'large' ? { tags: ['bench'] } : patch } }),
    // The longest range of days.
    from: () => new Date(Date.now() - 399 * 86_400_000).toISOString().slice(0, 10),
    // The defaults, or values of the shape that varies them.
    ...Object.fromEntries(
      [
        'after',
        'before',
        'last',
        'orderBy',
        'descending',
        'expectedVersion',
        'includeDeleted',
        'reason',
        'keyHash',
        // The other operations still find the key by its old identifier.
        'overlap',
        'silence',
        'to',
        'orgID',
        // The patch replaces the tags.
        'addTags',
        'removeTags',
        'applyAt',
        'digest',
        'expiresAt',
        'eventID',
        'states',
        'limit',
      ].map((name) => [name, () => undefined]),
    ),
  };
  return {
    representations: {
      'OrgKey by hash': numbers.map((n) => ({ __typename: 'OrgKey', keyHash: hashOf(n) })),
      Organization: organizations.map((id) => ({ __typename: 'Organization', id })),
      // Equal representations are executed once; other members make them different.
      'Organization, one of them': organizations.map((_, n) => ({ __typename: 'Organization', id: 'big', n })),
    },
    /** Returns the value of an argument; undefined to omit it. Throws for an unknown argument. */
    argument(coordinate, name, index, first) {
      if (coordinate === 'Mutation.createOrgKey' && name === 'keyID') return `bench-created-${runID}-${(created += 1)}`;
      if (coordinate === 'Mutation.createOrgKey' && name === 'input') return { ...values.input(), orgID: 'big' };
      if (coordinate === 'Query.previewKey' && name === 'input') return values.input();
      // Without a receipt, which would make a repetition cheaper than the first request.
      if (name === 'idempotencyKey' || name === 'prefix') return undefined;
      const value = values[name];
      if (!value)
        throw new Error(`The argument ${name} of ${coordinate} has no sample in test/bench/blocking/samples.mjs.`);
      return value(index, first);
    },
  };
}

/** Returns a policy with many APIs, each with a pattern of the largest size. */
export function policyOf(policyID) {
  const accessRights = Array.from({ length: 500 }, (_, n) => ({
    label: `api-${n}`,
    allowedUrls: [{ url: `/(a|aa)*[a-z]{100}${n}`, methods: ['GET'] }],
    limit: { rate: 1, per: 1 },
  }));
  return { policyID, accessRights };
}

/** Returns members with values of about twelve characters, which fit into the body of a GraphQL request. */
export function metaDataOf(members, letter) {
  return Object.fromEntries(Array.from({ length: members }, (_, n) => [`m${n}`, letter.repeat(8)]));
}
