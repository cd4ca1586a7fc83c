import { builder } from '../schema/builder.js';
import { changeArgs, changeOptionsOf, keyArgs } from './args.js';
import { callerOf } from '../context.js';
import { UpdateKeyInput } from '../types/key-definition.js';
import { OrgKeyUpdate } from '../types/mutation-payload.js';

builder.mutationField('createOrgKey', (t) =>
  t.field({
    type: OrgKeyUpdate,
    description:
      'Creates a key of an organisation. Requires a service credential. Errors: FORBIDDEN for an organisation other than that of the credential, CONFLICT if the key exists or is deleted but not purged.',
    extensions: { credential: 'service' },
    args: {
      keyID: t.arg.id({
        description:
          'Identifier of the key, at most 255 bytes and without a slash. Default: the identifier of the organisation followed by 32 random hex digits.',
      }),
      input: t.arg({
        type: UpdateKeyInput,
        required: true,
        description: 'The definition. `orgID` is required unless the credential is bound to an organisation.',
      }),
      reason: t.arg.string({
        description: 'Reason for the change, recorded in the history. At most 500 characters, no secrets.',
      }),
    },
    resolve: async (_, { keyID, input, reason }, context) => ({
      action: 'added' as const,
      ...(await context.keys.createOrgKey(callerOf(context, 'service'), {
        keyID: keyID === null || keyID === undefined ? undefined : String(keyID),
        input,
        reason: reason ?? undefined,
      })),
    }),
  }),
);

builder.mutationField('deleteOrgKey', (t) =>
  t.field({
    type: OrgKeyUpdate,
    description:
      'Deletes a key. It can be restored for the configured number of days and is purged after that. Requires a service credential. Errors: NOT_FOUND, CONFLICT.',
    extensions: { credential: 'service' },
    args: { ...keyArgs, ...changeArgs },
    resolve: async (_, { keyID, ...options }, context) => ({
      action: 'deleted' as const,
      ...(await context.keys.deleteOrgKey(callerOf(context, 'service'), {
        keyID: String(keyID),
        ...changeOptionsOf(options),
      })),
    }),
  }),
);

builder.mutationField('restoreOrgKey', (t) =>
  t.field({
    type: OrgKeyUpdate,
    description:
      'Restores a deleted key. Requires a service credential. Errors: NOT_FOUND if there is no deleted key with this identifier, CONFLICT.',
    extensions: { credential: 'service' },
    args: { ...keyArgs, ...changeArgs },
    resolve: async (_, { keyID, ...options }, context) => ({
      action: 'restored' as const,
      ...(await context.keys.restoreOrgKey(callerOf(context, 'service'), {
        keyID: String(keyID),
        ...changeOptionsOf(options),
      })),
    }),
  }),
);

builder.mutationField('revertOrgKey', (t) =>
  t.field({
    type: OrgKeyUpdate,
    description:
      'Restores the definition of an earlier version, as a new version. Secrets and the live quota are kept. Requires a service credential. Errors: NOT_FOUND if the key or the version does not exist, CONFLICT.',
    extensions: { credential: 'service' },
    args: {
      ...keyArgs,
      toVersion: t.arg.int({
        required: true,
        description: 'The version whose definition to restore, at least 1. Example: 2.',
      }),
      ...changeArgs,
    },
    resolve: async (_, { keyID, toVersion, ...options }, context) => ({
      action: 'modified' as const,
      ...(await context.keys.revertOrgKey(callerOf(context, 'service'), {
        keyID: String(keyID),
        toVersion,
        ...changeOptionsOf(options),
      })),
    }),
  }),
);
