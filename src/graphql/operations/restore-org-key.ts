import { callerOf } from '../context.js';
import { builder } from '../schema/builder.js';
import { OrgKeyUpdate } from '../types/org-key-update.js';
import { changeArgs, keyArgs, withoutNulls } from './args.js';

builder.mutationField('restoreOrgKey', (t) =>
  t.field({
    type: OrgKeyUpdate,
    nullable: true,
    description:
      'Restores a deleted key. Requires a service credential. Null if an error is returned. Errors: NOT_FOUND if there is no deleted key with this identifier, CONFLICT.',
    extensions: { credential: 'service' },
    args: { ...keyArgs, ...changeArgs },
    resolve: async (_, args, context) => ({
      action: 'restored' as const,
      ...(await context.keys.restoreOrgKey(callerOf(context, 'service'), withoutNulls(args))),
    }),
  }),
);
