import type { DefaultConnectionArguments } from '@pothos/plugin-relay';
import * as z from 'zod';
import { parsePolicy, PolicyDefinition } from '../../keys/access/policy-definition.js';
import type { KnownPolicy } from '../../keys/access/policy-store.js';
import { policyParts, type Policy, type PolicyPart } from '../../keys/access/policy.js';
import type { PolicyImpact } from '../../keys/queries/policies.js';
import { AppError } from '../../lib/errors.js';
import { nameCursors } from '../../wire/list-cursor.js';
import { builder } from './builder.js';
import { KeyFieldChange } from './definition.js';
import { OrgKey } from './key.js';
import { pageSizes, readConnectionPage } from './pagination.js';
import { enumValuesOf, inputTypeFromZod, outputTypeFromZod } from './types-from-zod.js';

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
      description: 'Version of the policy: 1 at first, increased by each import that changes it.',
    }),
    changedAt: t.field({
      type: 'KeyDateTime',
      description: 'When this version was imported.',
      resolve: ({ changedAt }) => changedAt.toISOString(),
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

builder.queryField('policies', (t) =>
  t.connection(
    {
      type: KeyPolicy,
      nullable: true,
      description:
        'Lists the imported policies that keys of the credential may name, in byte order of their identifiers. Requires a service credential. Null if an error is returned. Errors: INVALID if a page size or a cursor is not valid.',
      credential: 'service',
      resolve: async (caller, args, { keys }) => {
        const policies = await keys.policies(caller);
        return readConnectionPage<KnownPolicy>(args, ({ before, after, limit, inverted }) => {
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
      },
    },
    { name: 'KeyPolicyConnection', description: 'A page of policies.' },
    { name: 'KeyPolicyEdge', description: 'A policy and its cursor.' },
  ),
);

const KeyPolicyInput = inputTypeFromZod<object>(
  'KeyPolicyInput',
  PolicyDefinition,
  'A policy as it would be imported. Null is the same as omitted.',
);

const KeyPolicyImpact = builder.objectRef<PolicyImpact>('KeyPolicyImpact').implement({
  description: 'A key whose effective access would change.',
  fields: (t) => ({
    orgKey: t.expose('key', { type: OrgKey, description: 'The key.' }),
    changes: t.field({
      type: [KeyFieldChange],
      description: 'The effective values that would change. An API is selected by its name at the gateway.',
      resolve: ({ changes }) => [...changes],
    }),
  }),
});

builder.queryField('impactOfPolicy', (t) =>
  t.connection(
    {
      type: KeyPolicyImpact,
      nullable: true,
      description:
        'Lists the keys whose effective access would change if this policy were imported, in the order of their hashes. Stores nothing. One request looks at 1,000 keys that name the policy: a page can have fewer items than `first` and still have a next page, after its `endCursor`. Only forwards, with `first` and `after`. Requires a service credential. Null if an error is returned. Errors: INVALID with the problems of the policy.',
      credential: 'service',
      args: { policy: t.arg({ type: KeyPolicyInput, required: true, description: 'The policy to import.' }) },
      resolve: async (caller, { policy, ...args }, { keys }) => {
        const { limit, after } = forwardRange(args);
        const page = await keys.impactOfPolicy(caller, parseArgument(policy), { limit, after });
        const edges = page.impacts.map((impact) => ({ cursor: nameCursors.encode(impact.key.keyHash), node: impact }));
        return {
          edges,
          pageInfo: {
            hasNextPage: page.hasNext,
            hasPreviousPage: after !== undefined,
            startCursor: edges[0]?.cursor ?? null,
            // Also behind keys that would not change, so that the next page begins after them.
            endCursor: page.end === undefined ? null : nameCursors.encode(page.end),
          },
        };
      },
    },
    { name: 'KeyPolicyImpactConnection', description: 'A page of keys that a policy would change.' },
    { name: 'KeyPolicyImpactEdge', description: 'A key that would change, and its cursor.' },
  ),
);

function parseArgument(policy: object): Policy {
  try {
    return parsePolicy(policy);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const issues = error.issues.map((issue) => ({ ...issue, path: ['policy', ...issue.path] }));
    throw new AppError(error.code, error.message, { issues, cause: error });
  }
}

function forwardRange({ first, after, last, before }: DefaultConnectionArguments) {
  const backwards = Object.entries({ last, before }).flatMap(([name, value]) =>
    value === null || value === undefined
      ? []
      : [{ path: [name], code: 'MALFORMED_ARGUMENT', message: 'must be omitted: the list is read forwards' }],
  );
  const negative =
    typeof first === 'number' && first < 0
      ? [{ path: ['first'], code: 'OUT_OF_RANGE', message: 'must not be negative' }]
      : [];
  const issues = [...backwards, ...negative];
  if (issues.length > 0) throw new AppError('INVALID', 'The page is not valid.', { issues });
  return {
    limit: Math.min(first ?? pageSizes.defaultSize, pageSizes.maxSize),
    after: after === null || after === undefined ? undefined : nameCursors.decode(after, 'after'),
  };
}
