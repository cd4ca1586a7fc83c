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
      description: 'The new definition. Omitted fields are removed, except secrets.',
    }),
    resetQuota: t.boolean({
      defaultValue: false,
      description:
        'Whether to reset the live quota: the used count becomes 0, `quotaRemaining` becomes `quotaMax`, and `quotaRenews` becomes now plus `quotaRenewalRate` if that is above 0.',
    }),
  })),
  ...changeArgs,
};

builder.mutationField('updateOrgKey', (t) =>
  t.field({
    type: OrgKeyUpdate,
    description:
      'Replaces the definition of a key and optionally resets its quota, in one transaction. Requires a service credential (`X-Svc-Authorization: …`). Errors: INVALID with all problems in `extensions.issues`, NOT_FOUND, CONFLICT if the key does not have `expectedVersion`.',
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
      'Predicts the result of `updateOrgKey` with the same arguments: definition, changes and effect on the quota. Stores nothing. Requires a service credential. Errors: those of `updateOrgKey`.',
    extensions: { credential: 'service' },
    args,
    resolve: (_, { keyID, input, resetQuota, ...options }, context) => {
      const request = { keyID: String(keyID), input, resetQuota: resetQuota ?? false, ...changeOptionsOf(options) };
      return context.keys.previewOrgKeyUpdate(callerOf(context, 'service'), request);
    },
  }),
);
