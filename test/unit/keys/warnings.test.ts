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
])('warns about %o with the path, the code and the reason', (definition, path, code, message) => {
  expect(warningsOf(definition, now)).toStrictEqual([{ path, code, message }]);
});
