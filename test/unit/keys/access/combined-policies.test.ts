import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Definition } from '../../../../src/keys/definition/normalize.js';
import {
  accessSources,
  effectiveApis,
  effectiveLimits,
  effectiveRight,
  inactiveOrigin,
} from '../../../../src/keys/access/effective-access.js';
import { PolicyDefinition } from '../../../../src/keys/access/policy-definition.js';
import { wireName } from '../../../../src/wire/field-names.js';
import { allPolicyParts, type Policy, type PolicyPart } from '../../../../src/keys/access/policy.js';

/*
 * The rows of the table in docs/policies.md. Each case states definitions and what remains of them, so that another
 * implementation can be tested with them.
 */

type Named = Omit<Policy, 'policyID' | 'governs'> & { readonly governs?: readonly PolicyPart[] };

function resolve(definition: Definition, named: Readonly<Record<string, Named>>, applyPolicies = Object.keys(named)) {
  const policies = new Map<string, Policy>(
    Object.entries(named).map(([policyID, policy]) => [policyID, { governs: allPolicyParts, ...policy, policyID }]),
  );
  return accessSources({ definition: { ...definition, applyPolicies }, orgID: 'acme' }, policies);
}

/** The limits, each as its value and the policy that it is from, or `key`. */
function limitsOf(definition: Definition, named: Readonly<Record<string, Named>>, api?: string) {
  const sources = resolve(definition, named);
  const { values, origins } =
    api === undefined
      ? effectiveLimits(sources)
      : (effectiveRight(sources, api)?.limits ?? { values: undefined, origins: {} });
  return Object.fromEntries(
    Object.entries(values ?? { none: true }).map(([name, value]) => [
      name,
      [value, Object.entries(origins).find(([of]) => of === name)?.[1].policyID ?? 'key'],
    ]),
  );
}

const invoices = [{ label: 'invoices' }];
const orders = [{ label: 'orders' }];

describe('the limits of a key with policies', () => {
  it.each<[string, Definition, Record<string, Named>, object]>([
    [
      'are its own without policies',
      { rate: 10, per: 60, quotaMax: 5n, quotaRenewalRate: 60n, maxQueryDepth: 3 },
      {},
      {
        rate: [10, 'key'],
        per: [60, 'key'],
        quotaMax: [5n, 'key'],
        quotaRenewalRate: [60n, 'key'],
        maxQueryDepth: [3, 'key'],
      },
    ],
    [
      'are those of the policy, even where the key permits more',
      { rate: 1000, per: 1, quotaMax: -1n, maxQueryDepth: -1 },
      { gold: { rate: 10, per: 60, quotaMax: 100n, quotaRenewalRate: 3600n, maxQueryDepth: 4 } },
      {
        rate: [10, 'gold'],
        per: [60, 'gold'],
        quotaMax: [100n, 'gold'],
        quotaRenewalRate: [3600n, 'gold'],
        maxQueryDepth: [4, 'gold'],
      },
    ],
    [
      'are its own in the parts that no policy governs',
      { rate: 10, per: 60, quotaMax: 5n, maxQueryDepth: 3 },
      { quota: { governs: ['QUOTA'], rate: 1, per: 1, quotaMax: 100n } },
      { rate: [10, 'key'], per: [60, 'key'], quotaMax: [100n, 'quota'], maxQueryDepth: [3, 'key'] },
    ],
    [
      'are none in a part that a policy governs without a value',
      { rate: 10, per: 60, quotaMax: 5n },
      { open: { governs: ['RATE_LIMIT', 'QUOTA'] } },
      {},
    ],
    [
      'have the rate with the shortest time between two requests, with its own period',
      {},
      { a: { rate: 100, per: 60 }, b: { rate: 5, per: 1 }, c: { rate: 200, per: 120 } },
      { rate: [5, 'b'], per: [1, 'b'] },
    ],
    [
      'have the higher of two equal rates',
      {},
      { a: { rate: 5, per: 30 }, b: { rate: 10, per: 60 } },
      { rate: [10, 'b'], per: [60, 'b'] },
    ],
    [
      'have no rate limit if a policy switches it off',
      {},
      { a: { rate: 5, per: 30 }, b: { rate: -1, per: 60 } },
      { rate: [-1, 'b'], per: [60, 'b'] },
    ],
    [
      'have the smoothing of the policy that has the rate',
      {},
      {
        a: { rate: 5, per: 30, smoothing: { enabled: true, step: 1, delay: 1, threshold: 1, trigger: 1 } },
        b: { rate: 9, per: 30 },
      },
      { rate: [9, 'b'], per: [30, 'b'] },
    ],
    [
      'have the highest throttle values, which can be of several policies',
      {},
      { a: { throttleInterval: 2, throttleRetryLimit: 1 }, b: { throttleInterval: 1, throttleRetryLimit: 9 } },
      { throttleInterval: [2, 'a'], throttleRetryLimit: [9, 'b'] },
    ],
    [
      'have the highest quota and the longest period, which can be of several policies',
      {},
      { a: { quotaMax: 1000n, quotaRenewalRate: 60n }, b: { quotaMax: 10n, quotaRenewalRate: 3600n } },
      { quotaMax: [1000n, 'a'], quotaRenewalRate: [3600n, 'b'] },
    ],
    [
      'have no quota if a policy is unlimited',
      {},
      { a: { quotaMax: 1000n, quotaRenewalRate: 60n }, b: { quotaMax: -1n, quotaRenewalRate: 3600n } },
      { quotaMax: [-1n, 'b'] },
    ],
    [
      'have the period of policies with a quota only',
      {},
      { a: { quotaMax: 1000n, quotaRenewalRate: 60n }, b: { quotaMax: 0n, quotaRenewalRate: 3600n } },
      { quotaMax: [1000n, 'a'], quotaRenewalRate: [60n, 'a'] },
    ],
    [
      'never renew the quota if one of the policies does not: a period would permit more than each of them',
      {},
      { a: { quotaMax: 1000n }, b: { quotaMax: 10n, quotaRenewalRate: 60n } },
      { quotaMax: [1000n, 'a'] },
    ],
    [
      'have the longest period of the first policy, too',
      {},
      { a: { quotaMax: 10n, quotaRenewalRate: 3600n }, b: { quotaMax: 1000n, quotaRenewalRate: 60n } },
      { quotaMax: [1000n, 'b'], quotaRenewalRate: [3600n, 'a'] },
    ],
    [
      'have the highest depth, and none if a policy is unlimited',
      {},
      { a: { maxQueryDepth: 3 }, b: { maxQueryDepth: -1 }, c: { maxQueryDepth: 9 } },
      { maxQueryDepth: [-1, 'b'] },
    ],
    [
      'combine policies of different parts',
      { rate: 1, per: 1 },
      {
        access: { governs: ['ACCESS_RIGHTS'], rate: 99, per: 1, accessRights: invoices },
        speed: { governs: ['RATE_LIMIT'], rate: 7, per: 1 },
        amount: { governs: ['QUOTA'], quotaMax: 8n },
      },
      { rate: [7, 'speed'], per: [1, 'speed'], quotaMax: [8n, 'amount'] },
    ],
  ])('%s', (_, definition, named, expected) => {
    expect(limitsOf(definition, named)).toEqual(expected);
  });
});

describe('the limits of one API', () => {
  it.each<[string, Definition, Record<string, Named>, object]>([
    ['are those of the key', { rate: 1, per: 1, accessRights: invoices }, {}, { rate: [1, 'key'], per: [1, 'key'] }],
    [
      'are those that its entry states, in the parts that it states',
      { rate: 1, per: 1, quotaMax: 4n, accessRights: [{ label: 'invoices', limit: { rate: 2, per: 1 } }] },
      {},
      { rate: [2, 'key'], per: [1, 'key'], quotaMax: [4n, 'key'] },
    ],
    [
      'are those of the policies that list it',
      {},
      {
        gold: { rate: 9, per: 1, accessRights: orders },
        silver: { rate: 3, per: 1, accessRights: invoices },
      },
      { rate: [3, 'silver'], per: [1, 'silver'] },
    ],
    [
      'are those of policies that govern no access rights, too',
      {},
      { silver: { rate: 3, per: 1, accessRights: invoices }, speed: { governs: ['RATE_LIMIT'], rate: 4, per: 1 } },
      { rate: [4, 'speed'], per: [1, 'speed'] },
    ],
    [
      'are those of the key as a whole if no policy that lists it governs the part',
      {},
      {
        access: { governs: ['ACCESS_RIGHTS'], accessRights: invoices },
        gold: { rate: 9, per: 1, accessRights: orders },
      },
      { rate: [9, 'gold'], per: [1, 'gold'] },
    ],
    [
      'are those of the entry of the policy',
      {},
      {
        gold: { rate: 9, per: 1, quotaMax: 7n, accessRights: [{ label: 'invoices', limit: { quotaMax: 2n } }] },
      },
      { rate: [9, 'gold'], per: [1, 'gold'], quotaMax: [2n, 'gold'] },
    ],
    [
      'are not those of an entry of the key if a policy governs the part',
      { accessRights: [{ label: 'invoices', limit: { rate: 99, per: 1, quotaMax: 5n } }] },
      { speed: { governs: ['RATE_LIMIT'], rate: 4, per: 1 } },
      { rate: [4, 'speed'], per: [1, 'speed'], quotaMax: [5n, 'key'] },
    ],
  ])('%s', (_, definition, named, expected) => {
    expect(limitsOf(definition, named, 'invoices')).toEqual(expected);
  });
});

describe('the APIs of a key with policies', () => {
  const own: Definition = { accessRights: [{ label: 'own', apiID: 'invoices', versions: ['v1'] }] };
  const get = { url: '/a', methods: ['GET'] };
  const post = { url: '/b', methods: ['POST'] };

  it.each<[string, Definition, Record<string, Named>, string[]]>([
    ['are its own without policies, by their API identifiers', own, {}, ['invoices']],
    ['are named by their labels if they have no identifier', { accessRights: [{ label: 'a', apiID: '' }] }, {}, ['a']],
    ['are its own if no policy governs access rights', own, { speed: { governs: ['RATE_LIMIT'] } }, ['invoices']],
    ['are those of the policy, not its own', own, { gold: { accessRights: orders } }, ['orders']],
    ['are none if the policy that governs them lists none', own, { gold: {} }, []],
    [
      'are those of all policies that govern access rights',
      own,
      { a: { accessRights: orders }, b: { governs: ['ACCESS_RIGHTS'], accessRights: invoices } },
      ['orders', 'invoices'],
    ],
    ['leave out an API that a policy lists and does not govern', {}, { a: { governs: [], accessRights: orders } }, []],
  ])('%s', (_, definition, named, expected) => {
    expect(effectiveApis(resolve(definition, named))).toEqual(expected);
  });

  it('have the versions, the paths and the methods of all policies', () => {
    const sources = resolve(own, {
      a: { accessRights: [{ label: 'invoices', versions: ['v1', 'v2'], allowedUrls: [get] }] },
      b: {
        accessRights: [
          { label: 'x', apiID: 'invoices', apiName: 'Invoices', versions: ['v2', 'v3'], allowedUrls: [post] },
        ],
      },
    });
    expect(effectiveRight(sources, 'invoices')).toMatchObject({
      api: 'invoices',
      apiName: 'Invoices',
      origins: [{ policyID: 'a' }, { policyID: 'b' }],
      versions: ['v1', 'v2', 'v3'],
      allowedUrls: [
        { ...get, origin: { policyID: 'a' } },
        { ...post, origin: { policyID: 'b' } },
      ],
    });
    expect(effectiveRight(sources, 'own')).toBeUndefined();
  });

  it.each([undefined, []])('permit all paths if one policy does (%s)', (allowedUrls) => {
    const sources = resolve(own, {
      a: { accessRights: [{ label: 'invoices', allowedUrls: [get] }] },
      b: { accessRights: [allowedUrls ? { label: 'invoices', allowedUrls } : { label: 'invoices' }] },
    });
    expect(effectiveRight(sources, 'invoices')?.allowedUrls).toBeUndefined();
  });
});

it.each([
  [10_000, false],
  [10_001, true],
])('a decision uses at most 10,000 paths of one API: %s are cut is %s', (length, isCut) => {
  const allowedUrls = Array.from({ length }, () => ({ url: '/a', methods: ['GET'] }));
  const right = effectiveRight(resolve({ accessRights: [{ label: 'invoices', allowedUrls }] }, {}), 'invoices');
  expect([right?.allowedUrls?.length, right?.isCut]).toEqual([10_000, isCut]);
});

it('a policy of another organization is unknown, and one of no organization is for all', () => {
  const { policies, unknownPolicies } = resolve({}, { theirs: { orgID: 'globex' }, ours: { orgID: 'acme' }, all: {} }, [
    'theirs',
    'ours',
    'all',
    'missing',
  ]);
  expect(policies.map(({ policyID }) => policyID)).toEqual(['ours', 'all']);
  expect(unknownPolicies).toEqual(['theirs', 'missing']);
});

describe('the table in docs/policies.md', () => {
  const page = readFileSync(new URL('../../../../docs/policies.md', import.meta.url), 'utf8');
  const rows = (heading: string) => {
    const [, table = ''] = new RegExp(`^\\| ${heading} \\|.*\n\\|[-|]+\n((?:\\|.*\n)+)`, 'm').exec(page) ?? [];
    return table.split('\n').flatMap((line) => line.split('|')[1]?.trim() ?? []);
  };
  const namesIn = (cells: readonly string[]) =>
    cells.flatMap((cell) => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name ?? ''));

  it('has a row for each value that a policy can have', () => {
    const {
      policyID: _id,
      name: _name,
      orgID: _org,
      governs: _parts,
      accessRights: _rights,
      ...values
    } = PolicyDefinition.shape;
    const documented = namesIn(rows('Value'));
    expect(documented.toSorted()).toEqual(
      [...Object.keys(values).map(wireName), 'versions', 'allowed_urls'].toSorted(),
    );
    expect(rows('Value')).toContain('APIs');
  });

  it('switches a key off if the key or one of its policies says so', () => {
    const off = { isInactive: true };
    expect(inactiveOrigin(resolve({}, { a: {}, b: off, c: off }))).toEqual({ policyID: 'b' });
    expect(inactiveOrigin(resolve(off, { a: off }))).toEqual({ policyID: undefined });
    expect(inactiveOrigin(resolve({}, { a: {}, b: {} }))).toBeUndefined();
    // Also a policy that governs nothing.
    expect(inactiveOrigin(resolve({}, { a: { ...off, governs: [] } }))).toEqual({ policyID: 'a' });
  });
});
