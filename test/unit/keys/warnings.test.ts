import { expect, it } from 'vitest';
import { warningsOf } from '../../../src/keys/definition/warnings.js';
import type { KeyDefinition } from '../../../src/keys/definition/schema.js';

const now = new Date('2026-11-20T12:00:00Z');

it.each<[KeyDefinition, (string | number)[], string, string]>([
  [{ applyPolicyID: 'gold' }, ['applyPolicyID'], 'DEPRECATED_FIELD', 'was moved into `applyPolicies`'],
  [{ applyPolicyID: ' ' }, ['applyPolicyID'], 'DEPRECATED_FIELD', 'is empty, and was ignored; use `applyPolicies`'],
  [
    { enableDetailRecording: false },
    ['enableDetailRecording'],
    'DEPRECATED_FIELD',
    'was moved into `enableDetailedRecording`',
  ],
  [{ lastUpdated: '17' }, ['lastUpdated'], 'SERVER_OWNED', 'is set by the service; the value sent was ignored'],
  [
    { expires: 100_000_000_000n },
    ['expires'],
    'EXPIRES_IN_MILLISECONDS',
    'looks like milliseconds, and is read as seconds',
  ],
  [{ expires: 1n }, ['expires'], 'EXPIRES_IN_PAST', 'has passed already'],
  [{ rate: 1, per: 0 }, ['per'], 'LIMIT_OFF', 'is 0 or less, which switches the `rate` off'],
  [{ quotaMax: 1n }, ['quotaRenewalRate'], 'QUOTA_NEVER_RENEWS', 'is not above 0, so that the quota never renews'],
  [
    { quotaMax: 1n, quotaRenewalRate: 1n, quotaRemaining: 2n },
    ['quotaRemaining'],
    'REMAINING_ABOVE_MAXIMUM',
    'is more than `quotaMax`',
  ],
  [
    { accessRights: [{ label: 'a' }, { label: 'b', apiID: 'c' }] },
    ['accessRights', 1, 'apiID'],
    'LABEL_MISMATCH',
    'differs from the label, and a gateway looks entries up by `apiID`',
  ],
  [
    { accessRights: [{ label: 'a', limit: { rate: 1, per: -1 } }] },
    ['accessRights', 0, 'limit', 'per'],
    'LIMIT_OFF',
    'is 0 or less, which switches the `rate` off',
  ],
  [
    { monitor: { triggerLimits: [90, 50, 50] } },
    ['monitor', 'triggerLimits'],
    'TRIGGERS_NOT_DESCENDING',
    'should run from the highest to the lowest',
  ],
  [{ rate: 1 }, ['per'], 'RATE_WITHOUT_PER', 'is absent, which switches the `rate` off'],
  [{ per: 1, rate: null }, ['rate'], 'PER_WITHOUT_RATE', 'is absent, so that `per` limits nothing'],
  [
    { accessRights: [{ label: 'a', limit: { per: 60 } }] },
    ['accessRights', 0, 'limit', 'rate'],
    'PER_WITHOUT_RATE',
    'is absent, so that `per` limits nothing',
  ],
  [
    { accessRights: [] },
    ['accessRights'],
    'NO_ACCESS_RIGHTS',
    'is absent or empty, as is `applyPolicies`: a gateway rejects the key, or allows it everything',
  ],
  [
    { isInactive: true, applyPolicies: ['gold'] },
    ['isInactive'],
    'INACTIVE_WITH_POLICIES',
    'is ignored by gateways, because the key has policies',
  ],
  [
    { applyPolicies: ['silver'], applyPolicyID: 'gold' },
    ['applyPolicyID'],
    'DEPRECATED_FIELD',
    'was ignored, because `applyPolicies` has a value',
  ],
  [
    { applyPolicies: [], applyPolicyID: 'gold' },
    ['applyPolicyID'],
    'DEPRECATED_FIELD',
    'was moved into `applyPolicies`',
  ],
])('warns about %o with the path, the code and the reason', (definition, path, code, message) => {
  // With access rights, whose absence is a warning of its own.
  expect(warningsOf({ accessRights: [{ label: 'a' }], ...definition }, now)).toStrictEqual([{ path, code, message }]);
});

it.each<[string, KeyDefinition]>([
  ['a policy, in place of access rights', { applyPolicies: ['gold'] }],
  ['access rights, in place of a policy', { accessRights: [{ label: 'a' }], applyPolicies: [] }],
  ['an inactive key without policies', { accessRights: [{ label: 'a' }], isInactive: true, applyPolicies: [] }],
  ['an active key with policies', { applyPolicies: ['gold'], isInactive: false }],
  ['a rate with its period', { applyPolicies: ['gold'], rate: 1, per: 1 }],
  ['an unlimited rate without a period', { applyPolicies: ['gold'], rate: -1 }],
  ['a rate of 0 without a period', { applyPolicies: ['gold'], rate: 0 }],
  ['a period of 0 without a rate', { applyPolicies: ['gold'], per: 0 }],
  ['a period with a rate of 0', { applyPolicies: ['gold'], rate: 0, per: 60 }],
])('does not warn about %s', (_, definition) => {
  expect(warningsOf(definition, now)).toStrictEqual([]);
});

it('warns about a key without access if its deprecated policy is blank, and not if it has one', () => {
  const codes = (definition: KeyDefinition) => warningsOf(definition, now).map(({ code }) => code);
  expect(codes({ applyPolicyID: ' ' })).toStrictEqual(['DEPRECATED_FIELD', 'NO_ACCESS_RIGHTS']);
  expect(codes({ applyPolicyID: 'gold', isInactive: true })).toStrictEqual([
    'DEPRECATED_FIELD',
    'INACTIVE_WITH_POLICIES',
  ]);
});
