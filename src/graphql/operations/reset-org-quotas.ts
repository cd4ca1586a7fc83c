import { bulkLimit } from '../../keys/bulk.js';
import { callerOf } from '../context.js';
import { builder } from '../schema/builder.js';
import { KeyBulkResult } from '../types/bulk-result.js';
import { bulkArgs, bulkPageSizes, toBulkRequest } from './bulk-args.js';

builder.mutationField('resetOrgQuotas', (t) =>
  t.field({
    type: KeyBulkResult,
    nullable: true,
    description: `Resets the live quota of many keys, at most ${bulkLimit} per call. A dry run unless \`dryRun\` is false. Requires a service credential. Null if an error is returned. Errors: those of \`updateOrgKeys\`.`,
    extensions: { credential: 'service', pageSizes: bulkPageSizes },
    args: bulkArgs,
    resolve: (_, args, context) =>
      context.keys.updateOrgKeys(callerOf(context, 'service'), toBulkRequest(args, {}, true)),
  }),
);
