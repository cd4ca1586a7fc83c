import { builder } from '../schema/builder.js';
import { OrgKeyUpdate } from '../schema/change.js';
import { changeArgs, keyArgs, withoutNulls } from '../schema/arguments.js';

builder.mutationField('revertOrgKey', (t) =>
  t.field({
    type: OrgKeyUpdate,
    nullable: true,
    description:
      'Restores the definition of an earlier version, as a new version. Secrets and the live quota are kept. Requires a service credential. Null if an error is returned. Errors: NOT_FOUND if the key or the version does not exist, CONFLICT.',
    credential: 'service',
    args: {
      ...keyArgs,
      toVersion: t.arg.int({
        required: true,
        description: 'The version whose definition to restore, at least 1. Example: 2.',
      }),
      ...changeArgs,
    },
    resolve: async (caller, args, { keys }) => ({
      action: 'modified' as const,
      ...(await keys.revertOrgKey(caller, withoutNulls(args))),
    }),
  }),
);
