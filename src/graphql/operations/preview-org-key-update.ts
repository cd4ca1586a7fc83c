import { builder } from '../schema/builder.js';
import { OrgKeyUpdatePreview } from '../schema/change.js';
import { toUpdateRequest, updateArgs } from '../schema/arguments.js';

const previewArgs = builder.args((t) => ({
  includeDeleted: t.boolean({
    defaultValue: false,
    description: 'Whether to preview the update of a deleted key too, as it would be after `restoreOrgKey`.',
  }),
}));

builder.queryField('previewOrgKeyUpdate', (t) =>
  t.field({
    type: OrgKeyUpdatePreview,
    nullable: true,
    description:
      'Predicts the result of `updateOrgKey` with the same arguments: definition, changes and effect on the quota. Stores nothing. A secret in `input` is compared with the stored one only for a credential with the scope `update`, at most ten times a minute for one key; otherwise its change is `NOT_COMPARED`. Requires a service credential. Null if an error is returned. Errors: those of `updateOrgKey`.',
    credential: 'service',
    args: { ...updateArgs, ...previewArgs },
    resolve: (caller, args, { keys }) =>
      keys.previewOrgKeyUpdate(caller, { ...toUpdateRequest(args), includeDeleted: args.includeDeleted ?? false }),
  }),
);
