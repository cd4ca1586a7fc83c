import type { KeyChange } from '../../keys/change.js';
import { resetStatuses, type ResetStatus } from '../../keys/quota/external-counters.js';
import { viewOfStored } from '../../keys/definition/view.js';
import { builder } from './builder.js';
import { enumValuesOf } from './types-from-zod.js';
import { KeyFieldChange } from './field-change.js';
import { KeyDefinition } from './definition.js';
import { OrgKey } from './key.js';
import { KeyQuotaEffect } from './quota.js';
import { KeyWarning } from './issue.js';

/** The `action` of the REST key API. */
export type Action = 'added' | 'modified' | 'deleted' | 'restored';

const QuotaResetStatus = builder.enumType('KeyQuotaResetStatus', {
  description: 'Status of a requested reset of the live quota. A pending reset is stored and is not lost.',
  values: enumValuesOf<ResetStatus>(resetStatuses),
});

export const OrgKeyUpdate = builder.objectRef<KeyChange & { readonly action: Action }>('OrgKeyUpdate').implement({
  description: 'The result of a change of a key. The change is durable when the response is sent.',
  fields: (t) => ({
    action: t.exposeString('action', {
      description: 'What was done, as in the REST key API: `added`, `modified`, `deleted` or `restored`.',
    }),
    key: t.id({
      description: 'The key identifier, under its name in the REST key API. The same as `orgKey.keyID`.',
      resolve: ({ key }, _, { keys }) => keys.keyIDOf(key),
    }),
    keyHash: t.string({
      description:
        'Hash of the key identifier in lower-case hex: SHA-256 unless configured otherwise. Logs identify the key by it.',
      resolve: ({ key }) => key.keyHash,
    }),
    status: t.string({
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
