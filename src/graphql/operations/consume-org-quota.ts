import { quotaRejections, type Consumption, type QuotaRejection } from '../../keys/quota/quota.js';
import { builder } from '../schema/builder.js';
import { keyArgs } from './args.js';
import { callerOf } from '../context.js';
import { describedEnum } from '../schema/types-from-zod.js';
import { Quota } from '../types/quota.js';

const RefusalType = builder.enumType('QuotaRefusal', {
  description: 'Why requests are not allowed.',
  values: describedEnum<QuotaRejection>(quotaRejections),
});

const QuotaConsumption = builder.objectRef<Consumption>('QuotaConsumption').implement({
  description: 'The decision on requests: allowed or not.',
  fields: (t) => ({
    allowed: t.exposeBoolean('allowed', {
      description: 'Whether the requests are allowed. If true, all of them were counted; if false, none.',
    }),
    refusal: t.field({
      type: RefusalType,
      nullable: true,
      description: 'Why the requests are not allowed. Null if they are.',
      resolve: ({ refusal }) => refusal,
    }),
    quota: t.expose('figures', {
      type: Quota,
      description: 'The live quota, including the requests if they are allowed.',
    }),
  }),
});

builder.mutationField('consumeOrgQuota', (t) =>
  t.field({
    type: QuotaConsumption,
    description:
      'Consumes requests from the live quota of a key: the whole amount or nothing. Exact under concurrency and across restarts. Does not change the definition or its version. Requires a service credential. Errors: INVALID if `amount` is below 1, NOT_FOUND.',
    extensions: { credential: 'service' },
    args: {
      ...keyArgs,
      amount: t.arg({ type: 'Int64', defaultValue: 1n, description: 'Number of requests, at least 1.' }),
    },
    resolve: (_, { keyID, amount }, context) =>
      context.keys.consumeOrgQuota(callerOf(context, 'service'), { keyID: String(keyID), amount: amount ?? 1n }),
  }),
);
