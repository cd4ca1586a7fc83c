import type { OrgKeyUpdate as DomainUpdate } from '../keys/service.js';
import { viewOfStored } from '../keys/view.js';
import { builder } from './builder.js';
import { callerOf } from './context.js';
import { KeyDefinition, UpdateKeyInput } from './key-definition.js';
import { Warning } from './warning.js';

const OrgKeyUpdate = builder.objectRef<DomainUpdate>('OrgKeyUpdate').implement({
  description: 'What an update did. It is durable when it is answered.',
  fields: (t) => ({
    action: t.string({ description: 'Always `modified`.', resolve: () => 'modified' }),
    key: t.exposeID('keyID', { description: 'The key identifier.' }),
    keyHash: t.string({
      description: 'Hash of the key identifier, in lower-case hex.',
      resolve: ({ key }) => key.keyHash,
    }),
    status: t.string({ description: 'Always `ok`.', resolve: () => 'ok' }),
    version: t.int({
      description:
        'Version of the key after the update: one more than before. Send it as `expectedVersion` of the next update.',
      resolve: ({ key }) => key.version,
    }),
    definition: t.field({
      type: KeyDefinition,
      description: 'The key’s definition after the update.',
      resolve: ({ key }) => viewOfStored(key),
    }),
    quotaUsed: t.field({
      type: 'Int64',
      description: 'Requests counted by the live quota manager in the current period; 0 after a reset.',
      resolve: ({ key }) => key.quota.used,
    }),
    warnings: t.field({
      type: [Warning],
      description: 'What deserves a second look.',
      resolve: ({ warnings }) => [...warnings],
    }),
  }),
});

builder.mutationField('updateOrgKey', (t) =>
  t.field({
    type: OrgKeyUpdate,
    description:
      'Replaces the definition of an organisation’s key, and resets its quota where asked to: all in one transaction, or nothing. Needs a service credential (`X-Svc-Authorization: …`). Errors: INVALID with every problem in `extensions.issues`, NOT_FOUND, CONFLICT, UNAVAILABLE.',
    extensions: { credential: 'service' },
    args: {
      keyID: t.arg.id({
        required: true,
        description: 'Identifier of the key. A key that does not exist is not created.',
      }),
      input: t.arg({ type: UpdateKeyInput, required: true, description: 'The new definition.' }),
      resetQuota: t.arg.boolean({
        description:
          'Whether the live quota begins anew: the used count goes to 0, `quotaRemaining` to `quotaMax`, `quotaRenews` to now plus `quotaRenewalRate`.',
      }),
      expectedVersion: t.arg.int({
        description:
          'The version the update is meant for; CONFLICT where the key has another by now. Any version where absent.',
      }),
    },
    resolve: (_, { keyID, input, resetQuota, expectedVersion }, context) =>
      context.keys.updateOrgKey(callerOf(context, 'service'), {
        keyID: String(keyID),
        input,
        resetQuota: resetQuota ?? false,
        expectedVersion: expectedVersion ?? undefined,
      }),
  }),
);
