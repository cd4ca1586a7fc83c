import { builder } from '../schema/builder.js';
import { KeyQuotaConsumption } from '../schema/quota.js';
import { idempotencyArgs, keyArgs, withoutNulls } from '../schema/arguments.js';

builder.mutationField('consumeOrgQuota', (t) =>
  t.field({
    type: KeyQuotaConsumption,
    nullable: true,
    description:
      'Consumes requests from the live quota of a key: the whole amount or nothing. Exact under concurrency and across restarts. Does not change the definition or its version. Requires a service credential. Null if an error is returned. Errors: INVALID if `amount` is below 1, NOT_FOUND.',
    credential: 'service',
    args: {
      ...keyArgs,
      ...idempotencyArgs,
      amount: t.arg({ type: 'Int64', defaultValue: 1n, description: 'Number of requests, at least 1.' }),
    },
    resolve: (caller, args, { keys }) =>
      keys.consumeOrgQuota(caller, { ...withoutNulls(args), amount: args.amount ?? 1n }),
  }),
);
