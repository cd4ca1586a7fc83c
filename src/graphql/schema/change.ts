import type { InputShapeFromFields } from '@pothos/core';
import type { KeyChange } from '../../keys/change.js';
import { viewOfStored } from '../../keys/definition/view.js';
import { resetStatuses, type ResetStatus } from '../../keys/quota/external-counters.js';
import { changeArgs, idempotencyArgs, keyArgs, requestFrom } from './arguments.js';
import { builder, type SchemaTypes } from './builder.js';
import { KeyDefinition, KeyFieldChange, PatchKeyInput, UpdateKeyInput } from './definition.js';
import { KeyIssue, KeyWarning } from './issue.js';
import { OrgKey } from './key.js';
import type { DefinitionProblems } from './problems.js';
import { KeyQuotaEffect } from './quota.js';
import { enumValuesOf } from './types-from-zod.js';

const QuotaResetStatus = builder.enumType('KeyQuotaResetStatus', {
  description: 'Status of a requested reset of the live quota. A pending reset is stored and is not lost.',
  values: enumValuesOf<ResetStatus>(resetStatuses),
});

/** What a change of a definition returns: the change, or the problems of the definition. */
export type DefinitionOutcome = KeyChange | DefinitionProblems;

const nullWithIssues = 'Null if there are `issues`.';

const changeOf = (outcome: DefinitionOutcome): KeyChange | undefined => ('key' in outcome ? outcome : undefined);

const UpdateOrgKeyPayload = builder.objectRef<DefinitionOutcome>('UpdateOrgKeyPayload').implement({
  description: 'The result of an update. The change is durable when the response is sent.',
  fields: (t) => ({
    action: t.string({
      nullable: true,
      extensions: { isCompatibility: true },
      description: `Always \`modified\`, for compatibility with the REST key API. ${nullWithIssues}`,
      resolve: (outcome) => changeOf(outcome) && 'modified',
    }),
    key: t.id({
      nullable: true,
      extensions: { isCompatibility: true },
      description: `The key identifier, under its name in the REST key API. The same as \`orgKey.keyID\`. ${nullWithIssues}`,
      resolve: (outcome, _, { keys }) => {
        const change = changeOf(outcome);
        return change && keys.keyIDOf(change.key);
      },
    }),
    keyHash: t.string({
      nullable: true,
      extensions: { isCompatibility: true },
      description: `Hash that names the key, as in the REST key API. The same as \`orgKey.keyHash\`. ${nullWithIssues}`,
      resolve: (outcome) => changeOf(outcome)?.key.keyHash,
    }),
    status: t.string({
      nullable: true,
      extensions: { isCompatibility: true },
      description: `Always \`ok\`, for compatibility with the REST key API. ${nullWithIssues}`,
      resolve: (outcome) => changeOf(outcome) && 'ok',
    }),
    ...definitionOutcomeFields(t),
    quotaReset: quotaResetField(t),
  }),
});

const PatchOrgKeyPayload = builder.objectRef<DefinitionOutcome>('PatchOrgKeyPayload').implement({
  description: 'The result of a patch. The change is durable when the response is sent.',
  fields: (t) => ({ ...definitionOutcomeFields(t), quotaReset: quotaResetField(t) }),
});

/** A prediction: the key itself stays as it is stored. */
export const OrgKeyChangePreview = builder.objectRef<KeyChange>('OrgKeyChangePreview').implement({
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
    quotaReset: quotaResetField(t),
  }),
});

type FieldsOf<Source> = PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, Source>;

/** The fields of a change that cannot have problems of a definition. */
export function changedKeyFields(t: FieldsOf<KeyChange>) {
  return {
    orgKey: t.field({ type: OrgKey, description: 'The key after the change.', resolve: ({ key }) => key }),
    version: t.int({
      description: 'Version of the key after the change. Send it as `expectedVersion` with the next change.',
      resolve: ({ key }) => key.version,
    }),
    ...effectFields(t),
  };
}

/** The fields of a change that may have problems of the definition that was sent. */
export function definitionOutcomeFields(t: FieldsOf<DefinitionOutcome>) {
  return {
    orgKey: t.field({
      type: OrgKey,
      nullable: true,
      description: `The key after the change. ${nullWithIssues}`,
      resolve: (outcome) => changeOf(outcome)?.key,
    }),
    version: t.int({
      nullable: true,
      description: `Version of the key after the change. Send it as \`expectedVersion\` with the next change. ${nullWithIssues}`,
      resolve: (outcome) => changeOf(outcome)?.key.version,
    }),
    issues: t.field({
      type: [KeyIssue],
      description:
        'The problems of the definition that was sent, and of the other arguments; then nothing is changed. An operation that selects this field receives the problems here. Any other operation receives an error INVALID with the same problems in `extensions.issues`.',
      resolve: (outcome) => ('key' in outcome ? [] : [...outcome.issues]),
    }),
    ...effectFields(t),
  };
}

function effectFields(t: FieldsOf<DefinitionOutcome>) {
  return {
    changed: t.boolean({
      description:
        'Whether anything changes. False if the key has this definition already and no reset was requested: then its version, history and `updatedAt` stay, and no event is sent. True in a dry run if a secret is `NOT_COMPARED`.',
      resolve: (outcome) => changeOf(outcome)?.isChanged ?? false,
    }),
    changes: t.field({
      type: [KeyFieldChange],
      description:
        'The fields that differ; empty if none do, for example after a reset alone. Secrets are listed without their values.',
      resolve: (outcome) => [...(changeOf(outcome)?.changes ?? [])],
    }),
    quotaEffect: t.field({
      type: KeyQuotaEffect,
      nullable: true,
      description:
        'The live quota before and after the change. Null if its counter is in Redis and could not be read; the change is made nevertheless.',
      resolve: (outcome) => changeOf(outcome)?.quotaEffect,
    }),
    warnings: t.field({
      type: [KeyWarning],
      description: 'Warnings about the definition that was sent; often empty.',
      resolve: (outcome) => [...(changeOf(outcome)?.warnings ?? [])],
    }),
  };
}

function quotaResetField(t: FieldsOf<DefinitionOutcome>) {
  return t.field({
    type: QuotaResetStatus,
    nullable: true,
    description: 'Status of the requested reset. Null if no reset was requested, or if nothing is stored.',
    resolve: (outcome) => changeOf(outcome)?.quotaReset,
  });
}

export const resetArgs = builder.args((t) => ({
  resetQuota: t.boolean({
    defaultValue: false,
    description:
      'Whether to reset the live quota: the used count becomes 0, `quotaRemaining` becomes `quotaMax`, and `quotaRenews` becomes now plus `quotaRenewalRate` if that is above 0.',
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
  })),
  ...resetArgs,
  ...changeArgs,
};

/** The arguments of a patch and of its preview. */
const patchArgs = {
  ...keyArgs,
  ...builder.args((t) => ({
    patch: t.field({
      type: PatchKeyInput,
      required: true,
      description: 'The fields to change. Omitted fields keep their values; null clears a field.',
    }),
  })),
  ...resetArgs,
  ...changeArgs,
};

/** The arguments of both previews. */
const previewArgs = builder.args((t) => ({
  includeDeleted: t.boolean({
    defaultValue: false,
    description: 'Whether to preview the change of a deleted key too, as it would be after `restoreOrgKey`.',
  }),
}));

/** The request of a change of a definition, or of its preview. */
function definitionRequestFrom<Args extends InputShapeFromFields<typeof keyArgs & typeof resetArgs>>(args: Args) {
  // GraphQL returns large integers as decimal strings.
  return { ...requestFrom(args), resetQuota: args.resetQuota ?? false, hasDecimalStrings: true };
}

function previewRequestFrom<Args extends InputShapeFromFields<typeof keyArgs & typeof resetArgs & typeof previewArgs>>(
  args: Args,
) {
  return { ...definitionRequestFrom(args), includeDeleted: args.includeDeleted ?? false };
}

builder.mutationField('updateOrgKey', (t) =>
  t.field({
    type: UpdateOrgKeyPayload,
    nullable: true,
    description:
      'Replaces the definition of a key and optionally resets its quota, in one transaction. Fields that you omit are removed: use `patchOrgKey` to change some fields. Requires a service credential (`X-Svc-Authorization: …`). Null if an error is returned. Errors: INVALID with all problems in `extensions.issues`, NOT_FOUND, CONFLICT if the key does not have `expectedVersion`.',
    credential: 'service',
    args: { ...updateArgs, ...idempotencyArgs },
    resolve: (caller, args, { keys }) => keys.updateOrgKey(caller, definitionRequestFrom(args)),
  }),
);

builder.mutationField('patchOrgKey', (t) =>
  t.field({
    type: PatchOrgKeyPayload,
    nullable: true,
    description:
      'Changes the fields of a definition that `patch` names, and optionally resets the quota, in one transaction. Requires a service credential. Null if an error is returned. Errors: those of `updateOrgKey`.',
    credential: 'service',
    args: { ...patchArgs, ...idempotencyArgs },
    resolve: (caller, args, { keys }) => keys.patchOrgKey(caller, definitionRequestFrom(args)),
  }),
);

const comparedSecrets =
  'Stores nothing. A secret that is sent is compared with the stored one only for a credential with the scope `update`, at most ten times a minute for one key; otherwise its change is `NOT_COMPARED`. Requires a service credential. Null if an error is returned.';

builder.queryField('previewOrgKeyUpdate', (t) =>
  t.field({
    type: OrgKeyChangePreview,
    nullable: true,
    description: `Predicts the result of \`updateOrgKey\` with the same arguments: definition, changes and effect on the quota. ${comparedSecrets} Errors: those of \`updateOrgKey\`.`,
    credential: 'service',
    args: { ...updateArgs, ...previewArgs },
    resolve: (caller, args, { keys }) => keys.previewOrgKeyUpdate(caller, previewRequestFrom(args)),
  }),
);

builder.queryField('previewOrgKeyPatch', (t) =>
  t.field({
    type: OrgKeyChangePreview,
    nullable: true,
    description: `Predicts the result of \`patchOrgKey\` with the same arguments. ${comparedSecrets} Errors: those of \`patchOrgKey\`.`,
    credential: 'service',
    args: { ...patchArgs, ...previewArgs },
    resolve: (caller, args, { keys }) => keys.previewOrgKeyUpdate(caller, previewRequestFrom(args)),
  }),
);
