import { refusals, type Consumption, type Refusal } from '../../keys/quota/quota.js';
import { builder } from '../schema/builder.js';
import { keyArgs } from './args.js';
import { callerOf } from '../context.js';
import { describedEnum } from '../schema/types-from-zod.js';
import { Quota } from '../types/quota.js';

const RefusalType = builder.enumType('QuotaRefusal', {
  description: 'Why requests may not pass.',
  values: describedEnum<Refusal>(refusals),
});

const QuotaConsumption = builder.objectRef<Consumption>('QuotaConsumption').implement({
  description: 'The answer to a gateway that asks whether requests may pass.',
  fields: (t) => ({
    allowed: t.exposeBoolean('allowed', {
      description: 'Whether the requests may pass. If so, all of them are counted; if not, none is.',
    }),
    refusal: t.field({
      type: RefusalType,
      nullable: true,
      description: 'Why the requests may not pass; null where they may.',
      resolve: ({ refusal }) => refusal,
    }),
    quota: t.expose('figures', {
      type: Quota,
      description: 'The live quota, with the requests counted that may pass.',
    }),
  }),
});

builder.mutationField('consumeOrgQuota', (t) =>
  t.field({
    type: QuotaConsumption,
    description:
      'Takes requests from a key’s live quota, all that are asked for or none. Exact however many ask at once, and across restarts. Does not touch the definition or its version. Needs a service credential. Errors: INVALID, NOT_FOUND, UNAVAILABLE.',
    extensions: { credential: 'service' },
    args: {
      ...keyArgs,
      amount: t.arg({ type: 'Int64', defaultValue: 1n, description: 'How many requests, from 1.' }),
    },
    resolve: (_, { keyID, amount }, context) =>
      context.keys.consumeOrgQuota(callerOf(context, 'service'), String(keyID), amount ?? 1n),
  }),
);
