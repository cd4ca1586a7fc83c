import { builder } from '../schema/builder.js';
import { OrgKeyUpdate } from '../schema/change.js';
import { toUpdateRequest, updateArgs } from '../schema/arguments.js';

builder.mutationField('updateOrgKey', (t) =>
  t.field({
    type: OrgKeyUpdate,
    nullable: true,
    description:
      'Replaces the definition of a key and optionally resets its quota, in one transaction. Requires a service credential (`X-Svc-Authorization: …`). Null if an error is returned. Errors: INVALID with all problems in `extensions.issues`, NOT_FOUND, CONFLICT if the key does not have `expectedVersion`.',
    credential: 'service',
    args: updateArgs,
    resolve: async (caller, args, { keys }) => ({
      action: 'modified' as const,
      ...(await keys.updateOrgKey(caller, toUpdateRequest(args))),
    }),
  }),
);
