import type { PolicyImpact } from '../../keys/queries/policies.js';
import { nameCursors } from '../../wire/list-cursor.js';
import { builder } from './builder.js';
import { KeyFieldChange } from './definition.js';
import { OrgKey } from './key.js';
import { forwardRange } from './pagination.js';
import { KeyPolicyInput, parsePolicyArgument } from './policy-input.js';

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
        'Lists the keys whose effective access would change if this policy were stored, in the order of their hashes. Stores nothing. One request looks at 1,000 keys that name the policy, and returns changes with up to 24,000 values: a page can have fewer items than `first` and still have a next page, after its `endCursor`. Only forwards, with `first` and `after`. Requires a service credential. Null if an error is returned. Errors: INVALID with the problems of the policy.',
      credential: 'service',
      args: { policy: t.arg({ type: KeyPolicyInput, required: true, description: 'The policy to store.' }) },
      resolve: async (caller, { policy, ...args }, { keys }) => {
        const { limit, after: cursor } = forwardRange(args);
        const after = cursor === undefined ? undefined : nameCursors.decode(cursor, 'after');
        const page = await keys.impactOfPolicy(caller, parsePolicyArgument(['policy'], policy), { limit, after });
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
