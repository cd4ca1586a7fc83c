import type { KeyChange } from '../keys/changing.js';
import { viewOfStored } from '../keys/view.js';
import { builder } from './builder.js';
import { FieldChange } from './key-change.js';
import { KeyDefinition } from './key-definition.js';
import { OrgKey } from './org-key.js';
import { QuotaEffect } from './quota.js';
import { Warning } from './warning.js';

/** What was done, in the words of the key API. */
export type Action = 'added' | 'modified' | 'deleted' | 'restored';

export const OrgKeyUpdate = builder.objectRef<KeyChange & { readonly action: Action }>('OrgKeyUpdate').implement({
  description: 'What a change did to a key. It is durable when it is answered.',
  fields: (t) => ({
    action: t.exposeString('action', { description: 'What was done: added, modified, deleted or restored.' }),
    key: t.id({ description: 'The key identifier.', resolve: ({ key }, _, { keys }) => keys.keyIDOf(key) }),
    keyHash: t.string({
      description: 'Hash of the key identifier, in lower-case hex.',
      resolve: ({ key }) => key.keyHash,
    }),
    status: t.string({ description: 'Always `ok`.', resolve: () => 'ok' }),
    version: t.int({
      description:
        'Version of the key after the change: one more than before. Send it as `expectedVersion` of the next.',
      resolve: ({ key }) => key.version,
    }),
    definition: t.field({
      type: KeyDefinition,
      description: 'The key’s definition after the change.',
      resolve: ({ key }) => viewOfStored(key),
    }),
    orgKey: t.field({ type: OrgKey, description: 'The key after the change.', resolve: ({ key }) => key }),
    ...effectFields(t),
  }),
});

export const OrgKeyUpdatePreview = builder.objectRef<KeyChange>('OrgKeyUpdatePreview').implement({
  description: 'What an update would do. Nothing of it is stored.',
  fields: (t) => ({
    version: t.int({ description: 'The version the key would have.', resolve: ({ key }) => key.version }),
    definition: t.field({
      type: KeyDefinition,
      description: 'The definition the key would have.',
      resolve: ({ key }) => viewOfStored(key),
    }),
    ...effectFields(t),
  }),
});

function effectFields(t: PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, KeyChange>) {
  return {
    changes: t.field({
      type: [FieldChange],
      description: 'The fields that differ; secrets only as set, changed or cleared.',
      resolve: ({ changes }) => [...changes],
    }),
    quotaEffect: t.field({
      type: QuotaEffect,
      description: 'What becomes of the live quota.',
      resolve: ({ quotaBefore, quotaAfter }) => ({ before: quotaBefore, after: quotaAfter }),
    }),
    warnings: t.field({
      type: [Warning],
      description: 'What deserves a second look.',
      resolve: ({ warnings }) => [...warnings],
    }),
  };
}
