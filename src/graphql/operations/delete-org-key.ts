import { builder } from '../schema/builder.js';
import { OrgKeyUpdate } from '../schema/change.js';
import { changeArgs, idempotencyArgs, keyArgs, withoutNulls } from '../schema/arguments.js';

builder.mutationField('deleteOrgKey', (t) =>
  t.field({
    type: OrgKeyUpdate,
    nullable: true,
    description:
      'Deletes a key. It can be restored for the configured number of days and is purged after that. Requires a service credential. Null if an error is returned. Errors: NOT_FOUND, CONFLICT.',
    credential: 'service',
    args: { ...keyArgs, ...changeArgs, ...idempotencyArgs },
    resolve: async (caller, args, { keys }) => ({
      action: 'deleted' as const,
      ...(await keys.deleteOrgKey(caller, withoutNulls(args))),
    }),
  }),
);
