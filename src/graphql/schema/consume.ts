import { quotaRejections, type Consumption, type QuotaRejection } from '../../keys/quota/quota.js';
import { idempotencyArgs, keyArgs, requestFrom } from './arguments.js';
import { builder } from './builder.js';
import { KeyQuota } from './quota.js';
import { enumValuesOf } from './types-from-zod.js';

const KeyQuotaRefusal = builder.enumType('KeyQuotaRefusal', {
  description: 'Why requests are not allowed.',
  values: enumValuesOf<QuotaRejection>(quotaRejections),
});

const KeyQuotaConsumption = builder.objectRef<Consumption>('KeyQuotaConsumption').implement({
  description: 'The decision on requests: allowed or not.',
  fields: (t) => ({
    allowed: t.exposeBoolean('allowed', {
      description: 'Whether the requests are allowed. If true, all of them were counted; if false, none.',
    }),
    refusal: t.field({
      type: KeyQuotaRefusal,
      nullable: true,
      description: 'Why the requests are not allowed. Null if they are.',
      resolve: ({ rejection }) => rejection,
    }),
    quota: t.expose('figures', {
      type: KeyQuota,
      description: 'The live quota, including the requests if they are allowed.',
    }),
  }),
});

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
      keys.consumeOrgQuota(caller, { ...requestFrom(args), amount: args.amount ?? 1n }),
  }),
);
