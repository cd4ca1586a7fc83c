import { bulkLimit } from '../../keys/bulk.js';
import { builder } from '../schema/builder.js';
import { KeyBulkResult } from '../schema/bulk.js';
import { UpdateKeyInput } from '../schema/definition.js';
import { bulkArgs, bulkPageSizes, toBulkRequest } from './bulk-args.js';

builder.mutationField('updateOrgKeys', (t) =>
  t.field({
    type: KeyBulkResult,
    nullable: true,
    description: `Changes some fields of many keys, at most ${bulkLimit} per call. A dry run unless \`dryRun\` is false. Requires a service credential. Null if an error is returned. Errors: INVALID, with no key changed, if more than ${bulkLimit} keys match and no page is given. Failures of single keys are returned in \`items\`.`,
    credential: 'service',
    extensions: { pageSizes: bulkPageSizes },
    args: {
      ...bulkArgs,
      patch: t.arg({
        type: UpdateKeyInput,
        required: true,
        description: 'The fields to set. Null removes a field; omitted fields are kept.',
      }),
      resetQuota: t.arg.boolean({ defaultValue: false, description: 'Whether to reset the live quota of each key.' }),
    },
    resolve: (caller, { patch, resetQuota, ...args }, { keys }) =>
      keys.updateOrgKeys(caller, toBulkRequest(args, patch, resetQuota ?? false)),
  }),
);
