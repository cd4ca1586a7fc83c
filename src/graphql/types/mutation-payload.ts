import type { KeyChange } from '../../keys/commands/change-key.js';
import { resetStatuses, type ResetStatus } from '../../keys/quota/quota-manager.js';
import { viewOfStored } from '../../keys/definition/view.js';
import { builder } from '../schema/builder.js';
import { describedEnum } from '../schema/types-from-zod.js';
import { FieldChange } from './field-change.js';
import { KeyDefinition } from './key-definition.js';
import { OrgKey } from './org-key.js';
import { QuotaEffect } from './quota.js';
import { Warning } from './warning.js';

/** What was done, in the words of the key API. */
export type Action = 'added' | 'modified' | 'deleted' | 'restored';

const QuotaResetStatus = builder.enumType('QuotaResetStatus', {
  description: 'What became of a reset of the live quota. It is never lost once it is answered.',
  values: describedEnum<ResetStatus>(resetStatuses),
});

export const OrgKeyUpdate = builder.objectRef<KeyChange & { readonly action: Action }>('OrgKeyUpdate').implement({
  description: 'What a change did to a key. It is durable when it is answered.',
  fields: (t) => ({
    action: t.exposeString('action', {
      description: 'What was done, in the words of the key API: added, modified, deleted or restored.',
    }),
    key: t.id({
      description: 'The key identifier, under the name that it has in the key API; as `orgKey.keyID`.',
      resolve: ({ key }, _, { keys }) => keys.keyIDOf(key),
    }),
    keyHash: t.string({
      description:
        'Hash of the key identifier, in lower-case hex: SHA-256, unless the service is set to another. Logs name the key by it.',
      resolve: ({ key }) => key.keyHash,
    }),
    status: t.string({
      description: 'Always `ok`, for clients of the key API: whatever fails is an error.',
      resolve: () => 'ok',
    }),
    version: t.int({
      description:
        'Version of the key after the change: one more than before. Send it as `expectedVersion` of the next.',
      resolve: ({ key }) => key.version,
    }),
    definition: t.field({
      type: KeyDefinition,
      description: 'The definition after the change, in its normal form; secrets show as set or not set.',
      resolve: ({ key }) => viewOfStored(key),
    }),
    orgKey: t.field({ type: OrgKey, description: 'The key after the change.', resolve: ({ key }) => key }),
    ...effectFields(t),
  }),
});

export const OrgKeyUpdatePreview = builder.objectRef<KeyChange>('OrgKeyUpdatePreview').implement({
  description: 'What a change of a key’s definition does, or would do.',
  fields: (t) => ({
    version: t.int({
      description: 'The version the key has after the change, or would have.',
      resolve: ({ key }) => key.version,
    }),
    definition: t.field({
      type: KeyDefinition,
      description: 'The definition the key would have, in its normal form; secrets show as set or not set.',
      resolve: ({ key }) => viewOfStored(key),
    }),
    ...effectFields(t),
  }),
});

function effectFields(t: PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, KeyChange>) {
  return {
    changes: t.field({
      type: [FieldChange],
      description: 'The fields that differ, empty where none does; secrets only as set, changed or cleared.',
      resolve: ({ changes }) => [...changes],
    }),
    quotaEffect: t.field({
      type: QuotaEffect,
      nullable: true,
      description:
        'What becomes of the live quota: its figures before and after. Null where its counter stands elsewhere and cannot be read; the change stands all the same.',
      resolve: ({ quotaEffect }) => quotaEffect,
    }),
    quotaReset: t.field({
      type: QuotaResetStatus,
      nullable: true,
      description:
        'Whether the reset that was asked for has taken effect; null where none was, and where nothing is stored.',
      resolve: ({ quotaReset }) => quotaReset,
    }),
    warnings: t.field({
      type: [Warning],
      description: 'What deserves a second look in the definition that was sent, though it is valid; mostly empty.',
      resolve: ({ warnings }) => [...warnings],
    }),
  };
}
