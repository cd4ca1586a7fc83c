import { builder } from '../schema/builder.js';
import { OrgKeyUpdate } from '../schema/change.js';
import { changeArgs, keyArgs, withoutNulls } from '../schema/arguments.js';

builder.mutationField('restoreOrgKey', (t) =>
  t.field({
    type: OrgKeyUpdate,
    nullable: true,
    description:
      'Restores a deleted key. Requires a service credential. Null if an error is returned. Errors: NOT_FOUND if there is no deleted key with this identifier, CONFLICT.',
    credential: 'service',
    args: { ...keyArgs, ...changeArgs },
    resolve: async (caller, args, { keys }) => ({
      action: 'restored' as const,
      ...(await keys.restoreOrgKey(caller, withoutNulls(args))),
    }),
  }),
);
