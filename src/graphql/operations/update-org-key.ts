import { builder } from '../schema/builder.js';
import { changeArgs, changeOptionsOf, keyArgs } from './args.js';
import { callerOf } from '../context.js';
import { UpdateKeyInput } from '../types/key-definition.js';
import { OrgKeyUpdate, OrgKeyUpdatePreview } from '../types/mutation-payload.js';

const args = {
  ...keyArgs,
  ...builder.args((t) => ({
    input: t.field({
      type: UpdateKeyInput,
      required: true,
      description: 'The new definition, as a whole: what it leaves out is gone, except for secrets.',
    }),
    resetQuota: t.boolean({
      defaultValue: false,
      description:
        'Whether the live quota begins anew: the used count goes to 0, `quotaRemaining` to `quotaMax`, `quotaRenews` to now plus `quotaRenewalRate` where that is above 0.',
    }),
  })),
  ...changeArgs,
};

builder.mutationField('updateOrgKey', (t) =>
  t.field({
    type: OrgKeyUpdate,
    description:
      'Replaces the definition of an organisation’s key, and resets its quota where asked to: all in one transaction, or nothing. Needs a service credential (`X-Svc-Authorization: …`). Errors: INVALID with every problem in `extensions.issues`, NOT_FOUND, CONFLICT, UNAVAILABLE.',
    extensions: { credential: 'service' },
    args,
    resolve: async (_, { keyID, input, resetQuota, ...options }, context) => {
      const request = { keyID: String(keyID), input, resetQuota: resetQuota ?? false, ...changeOptionsOf(options) };
      return {
        action: 'modified' as const,
        ...(await context.keys.updateOrgKey(callerOf(context, 'service'), request)),
      };
    },
  }),
);

builder.queryField('previewOrgKeyUpdate', (t) =>
  t.field({
    type: OrgKeyUpdatePreview,
    description:
      'What `updateOrgKey` would do with the same arguments at this moment: the next definition, what changes, the effect on the quota. Stores nothing. Needs a service credential. Errors: those of `updateOrgKey`.',
    extensions: { credential: 'service' },
    args,
    resolve: (_, { keyID, input, resetQuota, ...options }, context) => {
      const request = { keyID: String(keyID), input, resetQuota: resetQuota ?? false, ...changeOptionsOf(options) };
      return context.keys.previewOrgKeyUpdate(callerOf(context, 'service'), request);
    },
  }),
);
