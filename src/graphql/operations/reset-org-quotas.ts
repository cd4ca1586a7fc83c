import { bulkLimit } from '../../keys/bulk.js';
import { builder } from '../schema/builder.js';
import { KeyBulkResult } from '../schema/bulk.js';
import { bulkArgs, bulkPageSizes, toBulkRequest } from './bulk-args.js';

builder.mutationField('resetOrgQuotas', (t) =>
  t.field({
    type: KeyBulkResult,
    nullable: true,
    description: `Resets the live quota of many keys, at most ${bulkLimit} per call. A dry run unless \`dryRun\` is false. Requires a service credential. Null if an error is returned. Errors: those of \`updateOrgKeys\`.`,
    credential: 'service',
    extensions: { pageSizes: bulkPageSizes },
    args: bulkArgs,
    resolve: (caller, args, { keys }) => keys.updateOrgKeys(caller, toBulkRequest(args, {}, true)),
  }),
);
