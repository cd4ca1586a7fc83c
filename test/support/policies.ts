import { parsePolicy } from '../../src/keys/access/policy-definition.js';
import type { PolicyChange, PolicyStore } from '../../src/keys/access/policy-store.js';
import type { Actor } from '../../src/keys/key.js';
import { policyFromWire } from '../../src/wire/field-names.js';
import type { TestApp } from './app.js';

const importer: Actor = { credentialID: 'cli', label: 'keyfront policies import' };

/** Changes policies in a store. Returns the version of all policies. */
export function changePolicies(
  store: PolicyStore,
  changes: readonly PolicyChange[],
  at: Date,
  actor: Actor = importer,
): Promise<number> {
  return store.change(() => ({ changes, resultAt: (version) => version }), actor, at);
}

/** Imports policies like `keyfront policies import`, in the names of files. */
export async function importPolicies({ app, clock }: TestApp, ...bodies: readonly object[]): Promise<void> {
  const policies = bodies.map((body) => parsePolicy(policyFromWire(body)));
  const changes = policies.map((policy) => ({ policyID: policy.policyID, policy }));
  await changePolicies(app.services.policies, changes, clock.now);
}

/** Removes a policy. */
export async function removePolicy({ app, clock }: TestApp, policyID: string): Promise<void> {
  await changePolicies(app.services.policies, [{ policyID, policy: undefined }], clock.now);
}
