import * as z from 'zod';
import { PolicyDefinition } from '../../keys/access/policy-definition.js';
import type { KnownPolicy } from '../../keys/access/policy-store.js';
import { policyParts, type Policy, type PolicyPart } from '../../keys/access/policy.js';
import { nameCursors } from '../../wire/list-cursor.js';
import { builder } from './builder.js';
import { KeyActor } from './history.js';
import { readConnectionPage } from './pagination.js';
import { enumValuesOf, outputTypeFromZod } from './types-from-zod.js';

const KeyPolicyPart = builder.enumType('KeyPolicyPart', {
  description: 'A part of a key that a policy can govern.',
  values: enumValuesOf<PolicyPart>(policyParts),
});

const {
  policyID: _id,
  name: _name,
  orgID: _org,
  isInactive: _off,
  governs: _parts,
  ...limits
} = PolicyDefinition.shape;

const KeyPolicyValues = outputTypeFromZod<Policy>(
  'KeyPolicyValues',
  z.strictObject(limits),
  'The limits and the access rights of a policy.',
);

const KeyPolicy = builder.objectRef<KnownPolicy>('KeyPolicy').implement({
  description: 'A policy: limits and access rights for the keys that name it in `applyPolicies`.',
  fields: (t) => ({
    policyID: t.exposeString('policyID', { description: 'Identifier that keys name. Example: gold.' }),
    version: t.exposeInt('version', {
      description: 'Version of the policy: 1 at first, increased by each change.',
    }),
    changedAt: t.field({
      type: 'KeyDateTime',
      description: 'When this version was stored.',
      resolve: ({ changedAt }) => changedAt.toISOString(),
    }),
    changedBy: t.field({
      type: KeyActor,
      nullable: true,
      description: 'Who stored this version. Null for a credential that is bound to an organization.',
      resolve: ({ changedBy }, _, { serviceCaller }) => (serviceCaller().orgID === undefined ? changedBy : null),
    }),
    name: t.string({
      nullable: true,
      description: 'Display name. Null if there is none.',
      resolve: ({ name }) => name,
    }),
    orgID: t.string({
      nullable: true,
      description: 'The organization whose keys may name the policy. Null for all.',
      resolve: ({ orgID }) => orgID,
    }),
    isInactive: t.boolean({
      description: 'Whether every key that names the policy is switched off.',
      resolve: ({ isInactive }) => isInactive === true,
    }),
    governs: t.field({
      type: [KeyPolicyPart],
      description: 'The parts that the policy governs: in these, the values of the key itself do not count.',
      resolve: ({ governs }) => [...governs],
    }),
    values: t.field({
      type: KeyPolicyValues,
      description: 'The limits and the access rights. Those of parts that the policy does not govern have no effect.',
      resolve: (policy) => policy,
    }),
  }),
});

builder.queryField('keyPolicy', (t) =>
  t.field({
    type: KeyPolicy,
    nullable: true,
    description:
      'Returns a policy; null if there is none that keys of the credential may name. Requires a service credential.',
    credential: 'service',
    args: { policyID: t.arg.string({ required: true, description: 'Identifier of the policy. Example: gold.' }) },
    resolve: (caller, { policyID }, { keys }) => keys.policy(caller, policyID),
  }),
);

builder.queryField('keyPolicies', (t) =>
  t.connection(
    {
      type: KeyPolicy,
      nullable: true,
      description:
        'Lists the policies that keys of the credential may name, in byte order of their identifiers. Requires a service credential. Null if an error is returned. Errors: INVALID if a page size or a cursor is not valid.',
      credential: 'service',
      resolve: async (caller, args, { keys }) => {
        const { policies, version } = await keys.policies(caller);
        const page = await readConnectionPage<KnownPolicy>(args, ({ before, after, limit, inverted }) => {
          const from = after === undefined ? undefined : nameCursors.decode(after, 'after');
          const to = before === undefined ? undefined : nameCursors.decode(before, 'before');
          const found = policies.filter(
            ({ policyID }) => (from === undefined || policyID > from) && (to === undefined || policyID < to),
          );
          const shown = (inverted ? found.toReversed() : found).slice(0, limit);
          return Promise.resolve({
            items: shown.map((policy) => ({ cursor: nameCursors.encode(policy.policyID), node: policy })),
          });
        });
        return { ...page, version };
      },
    },
    {
      name: 'KeyPolicyConnection',
      description: 'A page of policies.',
      fields: (t) => ({
        version: t.int({
          description:
            'Version of all policies together: each change of any of them adds 1. Send it as `expectedVersion` with the next change.',
          resolve: (page) => (page as unknown as { readonly version: number }).version,
        }),
      }),
    },
    { name: 'KeyPolicyEdge', description: 'A policy and its cursor.' },
  ),
);
