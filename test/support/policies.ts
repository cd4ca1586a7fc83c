import { parsePolicy } from '../../src/keys/access/policy-definition.js';
import { policyFromWire } from '../../src/wire/field-names.js';
import type { TestApp } from './app.js';

/** Imports policies, which have the names of REST. */
export async function importPolicies(t: TestApp, ...policies: readonly object[]): Promise<void> {
  const parsed = policies.map((body) => parsePolicy(policyFromWire(body)));
  const actor = { credentialID: 'cli', label: 'keyfront policies import' };
  await t.app.services.policies.change(
    parsed.map((policy) => ({ policyID: policy.policyID, policy })),
    actor,
    t.clock.now,
  );
}
