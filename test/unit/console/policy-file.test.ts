import { describe, expect, it } from 'vitest';
import { toFileLine, valuesOf } from '../../../src/console/policies/policy-file.js';
import { parsePolicy } from '../../../src/keys/access/policy-definition.js';
import { policyFromWire } from '../../../src/wire/field-names.js';

/** As the API returns it: integers are numbers. */
const asReturned = (value: object): unknown =>
  JSON.parse(JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? Number(member) : member)));
const parsed = (line: string) => parsePolicy(policyFromWire(JSON.parse(line)));

describe('the line of a policy for `keyfront policies import`', () => {
  it.each([
    ['every field', { policy_id: 'gold', name: 'Gold', org_id: 'acme', is_inactive: true, governs: ['quota'] }],
    ['no field but its identifier', { policy_id: 'plain' }],
    [
      'limits and access',
      {
        policy_id: 'full',
        rate: 0.5,
        per: 60,
        quota_max: 10,
        quota_renewal_rate: 60,
        throttle_interval: 2,
        smoothing: { enabled: true, threshold: 5, step: 1, delay: 30, trigger: 0.5 },
        max_query_depth: -1,
        access_rights: {
          'in "quotes"': { api_id: 'a', versions: ['v1'], allowed_urls: [{ url: '/a', methods: ['GET'] }] },
          b: { limit: { rate: 3, per: 1 } },
        },
      },
    ],
  ])('imports what it was made of: %s', (_, body) => {
    const policy = parsePolicy(policyFromWire(body));
    const { policyID, name = null, orgID = null, isInactive = false, governs, ...values } = policy;
    const read = {
      policyID,
      name,
      orgID,
      isInactive,
      governs: [...governs],
      version: 1,
      changedAt: '',
      values: asReturned(values),
    };
    expect(parsed(toFileLine(valuesOf(read as unknown as Parameters<typeof valuesOf>[0])))).toEqual(policy);
  });
});
