import type { InputShapeFromFields } from '@pothos/core';
import type { PolicyDifference } from '../../keys/access/policy-diff.js';
import type { PolicyChangeResult } from '../../keys/change-policies.js';
import type { Warning } from '../../keys/definition/warnings.js';
import { idempotencyArgs } from './arguments.js';
import { builder } from './builder.js';
import { KeyFieldChange } from './definition.js';
import { KeyWarning } from './issue.js';
import { KeyPolicyChangeKind } from './policy-history.js';
import { KeyPolicyInput, parsePolicies } from './policy-input.js';

const KeyPolicyDifference = builder.objectRef<PolicyDifference>('KeyPolicyDifference').implement({
  description: 'The change of one policy.',
  fields: (t) => ({
    policyID: t.exposeString('policyID', { description: 'Identifier of the policy. Example: gold.' }),
    kind: t.expose('kind', { type: KeyPolicyChangeKind, description: 'What changes.' }),
    changes: t.field({
      type: [KeyFieldChange],
      description: 'The values that differ; empty if the policy is removed.',
      resolve: ({ changes }) => [...changes],
    }),
  }),
});

/** A result, with the warnings about the policies that were sent. */
interface PolicyOutcome extends PolicyChangeResult {
  readonly warnings: readonly Warning[];
}

const KeyPolicyChangeResult = builder.objectRef<PolicyOutcome>('KeyPolicyChangeResult').implement({
  description: 'The result of a change of policies, predicted in a dry run. All of the policies change, or none.',
  fields: (t) => ({
    dryRun: t.exposeBoolean('isDryRun', { description: 'Whether this was a dry run, which stores nothing.' }),
    version: t.exposeInt('version', {
      description:
        'Version of all policies together after the change. After a change, send it as `expectedVersion` with the next one.',
    }),
    changes: t.field({
      type: [KeyPolicyDifference],
      description: 'The policies that change. Empty if they are stored already; then the version stays.',
      resolve: ({ differences }) => [...differences],
    }),
    warnings: t.field({
      type: [KeyWarning],
      description:
        'Warnings about the policies that were sent: entries of `allowedUrls` that allow nothing. The first patterns are evaluated, as many as take a short time.',
      resolve: ({ warnings }) => [...warnings],
    }),
  }),
});

/** The arguments of every change of policies. */
const policyChangeArgs = {
  ...builder.args((t) => ({
    dryRun: t.boolean({
      required: true,
      defaultValue: true,
      description: 'Whether to store nothing and only predict the changes. A dry run requires the scope `read` only.',
    }),
    expectedVersion: t.int({
      description:
        'Rejects the change with CONFLICT unless all policies together have this version, as in `keyPolicies.version`: send that of the list that you have compared. Default: any version.',
    }),
  })),
  ...idempotencyArgs,
};

type PolicyChangeArgs = InputShapeFromFields<typeof policyChangeArgs>;

function policyOptionsFrom({ dryRun, expectedVersion, idempotencyKey }: PolicyChangeArgs) {
  return {
    isDryRun: dryRun,
    expectedVersion: expectedVersion ?? undefined,
    idempotencyKey: idempotencyKey ?? undefined,
  };
}

const whoMayChangePolicies =
  'A dry run unless `dryRun` is false. Requires a service credential with the scope `admin` that is not bound to an organization. Null if an error is returned.';

builder.mutationField('putKeyPolicies', (t) =>
  t.field({
    type: KeyPolicyChangeResult,
    nullable: true,
    description: `Adds policies and replaces those with the same identifiers, in one transaction. ${whoMayChangePolicies} Errors: FORBIDDEN, INVALID with the problems of all policies, CONFLICT if the policies do not have \`expectedVersion\`, or would be too many or too large.`,
    credential: 'service',
    args: {
      policies: t.arg({
        type: [KeyPolicyInput],
        required: true,
        description: 'The policies, with different identifiers.',
      }),
      prune: t.arg.boolean({ defaultValue: false, description: 'Whether to remove all policies that are not listed.' }),
      ...policyChangeArgs,
    },
    resolve: async (caller, { policies: bodies, prune, ...args }, { keys, nextSlice }): Promise<PolicyOutcome> => {
      const policies = await parsePolicies(bodies, nextSlice);
      const result = await keys.putPolicies(caller, { policies, prune: prune ?? false, ...policyOptionsFrom(args) });
      return { ...result, warnings: await keys.policyWarnings(policies) };
    },
  }),
);

builder.mutationField('removeKeyPolicies', (t) =>
  t.field({
    type: KeyPolicyChangeResult,
    nullable: true,
    description: `Removes policies, in one transaction. Their history stays. Keys that name one of them are denied afterwards: list them with \`orgKeys(filter: {policy: "gold"})\`. ${whoMayChangePolicies} Errors: FORBIDDEN, NOT_FOUND if one of the policies does not exist, CONFLICT if the policies do not have \`expectedVersion\`.`,
    credential: 'service',
    args: {
      policyIDs: t.arg.stringList({ required: true, description: 'Identifiers of the policies.' }),
      ...policyChangeArgs,
    },
    resolve: async (caller, { policyIDs, ...args }, { keys }): Promise<PolicyOutcome> => {
      const result = await keys.removePolicies(caller, { policyIDs, ...policyOptionsFrom(args) });
      return { ...result, warnings: [] };
    },
  }),
);
