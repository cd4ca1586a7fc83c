import type { InputShapeFromFields } from '@pothos/core';
import type { KeyChange } from '../../keys/change.js';
import { viewOfStored } from '../../keys/definition/view.js';
import { resetStatuses, type ResetStatus } from '../../keys/quota/external-counters.js';
import { keyArgs, withoutNulls } from './arguments.js';
import { builder } from './builder.js';
import { KeyDefinition, KeyFieldChange, UpdateKeyInput } from './definition.js';
import { KeyWarning } from './issue.js';
import { OrgKey } from './key.js';
import { KeyQuotaEffect } from './quota.js';
import { enumValuesOf } from './types-from-zod.js';

/** The `action` of the REST key API. */
type Action = 'added' | 'modified' | 'deleted' | 'restored';

const QuotaResetStatus = builder.enumType('KeyQuotaResetStatus', {
  description: 'Status of a requested reset of the live quota. A pending reset is stored and is not lost.',
  values: enumValuesOf<ResetStatus>(resetStatuses),
});

export const OrgKeyUpdate = builder.objectRef<KeyChange & { readonly action: Action }>('OrgKeyUpdate').implement({
  description: 'The result of a change of a key. The change is durable when the response is sent.',
  fields: (t) => ({
    action: t.exposeString('action', {
      extensions: { isCompatibility: true },
      description: 'What was done, as in the REST key API: `added`, `modified`, `deleted` or `restored`.',
    }),
    key: t.id({
      extensions: { isCompatibility: true },
      description: 'The key identifier, under its name in the REST key API. The same as `orgKey.keyID`.',
      resolve: ({ key }, _, { keys }) => keys.keyIDOf(key),
    }),
    keyHash: t.string({
      description:
        'Hash of the key identifier in lower-case hex: SHA-256 unless configured otherwise. Logs identify the key by it.',
      resolve: ({ key }) => key.keyHash,
    }),
    status: t.string({
      extensions: { isCompatibility: true },
      description: 'Always `ok`, for compatibility with the REST key API. Failures are returned as errors.',
      resolve: () => 'ok',
    }),
    version: t.int({
      description: 'Version of the key after the change. Send it as `expectedVersion` with the next change.',
      resolve: ({ key }) => key.version,
    }),
    definition: t.field({
      type: KeyDefinition,
      description: 'The definition after the change, in normal form. Secrets are returned as set or not set.',
      resolve: ({ key }) => viewOfStored(key),
    }),
    orgKey: t.field({ type: OrgKey, description: 'The key after the change.', resolve: ({ key }) => key }),
    ...effectFields(t),
  }),
});

export const OrgKeyUpdatePreview = builder.objectRef<KeyChange>('OrgKeyUpdatePreview').implement({
  description: 'The effects of a change of a key, made or predicted.',
  fields: (t) => ({
    version: t.int({
      description: 'Version of the key after the change.',
      resolve: ({ key }) => key.version,
    }),
    definition: t.field({
      type: KeyDefinition,
      description: 'The definition after the change, in normal form. Secrets are returned as set or not set.',
      resolve: ({ key }) => viewOfStored(key),
    }),
    ...effectFields(t),
  }),
});

function effectFields(t: PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, KeyChange>) {
  return {
    changed: t.exposeBoolean('isChanged', {
      description:
        'Whether anything changes. False if the key has this definition already and no reset was requested: then its version, history and `lastUpdated` stay, and no event is sent. True in a dry run if a secret is `NOT_COMPARED`.',
    }),
    changes: t.field({
      type: [KeyFieldChange],
      description:
        'The fields that differ; empty if none do, for example after a reset alone. Secrets are listed without their values.',
      resolve: ({ changes }) => [...changes],
    }),
    quotaEffect: t.field({
      type: KeyQuotaEffect,
      nullable: true,
      description:
        'The live quota before and after the change. Null if its counter is in Redis and could not be read; the change is made nevertheless.',
      resolve: ({ quotaEffect }) => quotaEffect,
    }),
    quotaReset: t.field({
      type: QuotaResetStatus,
      nullable: true,
      description: 'Status of the requested reset. Null if no reset was requested, or if nothing is stored.',
      resolve: ({ quotaReset }) => quotaReset,
    }),
    warnings: t.field({
      type: [KeyWarning],
      description: 'Warnings about the definition that was sent; often empty.',
      resolve: ({ warnings }) => [...warnings],
    }),
  };
}

/** The arguments of every change of an existing key. */
export const changeArgs = builder.args((t) => ({
  expectedVersion: t.int({
    description: 'Rejects the change with CONFLICT unless the key has this version. Default: any version.',
  }),
  reason: t.string({
    description: 'Reason for the change, recorded in the history. At most 500 characters, no secrets.',
  }),
}));

/** The arguments of an update and of its preview. */
const updateArgs = {
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

/** The request of an update or of its preview. */
function toUpdateRequest(args: UpdateArgs) {
  // GraphQL returns large integers as decimal strings.
  return { ...withoutNulls(args), resetQuota: args.resetQuota ?? false, hasDecimalStrings: true };
}

type UpdateArgs = InputShapeFromFields<typeof updateArgs>;

builder.mutationField('updateOrgKey', (t) =>
  t.field({
    type: OrgKeyUpdate,
    nullable: true,
    description:
      'Replaces the definition of a key and optionally resets its quota, in one transaction. Requires a service credential (`X-Svc-Authorization: …`). Null if an error is returned. Errors: INVALID with all problems in `extensions.issues`, NOT_FOUND, CONFLICT if the key does not have `expectedVersion`.',
    credential: 'service',
    args: updateArgs,
    resolve: async (caller, args, { keys }) => ({
      action: 'modified' as const,
      ...(await keys.updateOrgKey(caller, toUpdateRequest(args))),
    }),
  }),
);

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
