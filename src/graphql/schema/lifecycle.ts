import { idempotencyArgs, keyArgs, withoutNulls } from './arguments.js';
import { builder } from './builder.js';
import { changeArgs, OrgKeyUpdate } from './change.js';
import { UpdateKeyInput } from './definition.js';

builder.mutationField('createOrgKey', (t) =>
  t.field({
    type: OrgKeyUpdate,
    nullable: true,
    description:
      'Creates a key of an organisation. Requires a service credential. Null if an error is returned. Errors: FORBIDDEN for an organisation other than that of the credential, CONFLICT if the key exists or is deleted but not purged.',
    credential: 'service',
    args: {
      ...idempotencyArgs,
      keyID: t.arg.id({
        description:
          'Identifier of the key, at most 255 bytes and without a slash. Recommended: omit it, so that the service generates one that cannot be guessed.',
      }),
      prefix: t.arg.string({
        description:
          'Readable beginning of a generated identifier, which `_` (unless it ends in a dot, hyphen or underscore), 32 random hex digits and 8 of their CRC-32 follow. 1 to 64 letters, digits, dots, hyphens and underscores. INVALID together with `keyID`. Default: the identifier of the organisation. Example: acme_live_.',
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
    // The order of the members must not change: their hash identifies a repeated request.
    resolve: async (caller, { keyID, prefix, input, reason, idempotencyKey }, { keys }) => ({
      action: 'added' as const,
      ...(await keys.createOrgKey(caller, withoutNulls({ keyID, keyIDPrefix: prefix, input, reason, idempotencyKey }))),
    }),
  }),
);

builder.mutationField('deleteOrgKey', (t) =>
  t.field({
    type: OrgKeyUpdate,
    nullable: true,
    description:
      'Deletes a key. It can be restored for the configured number of days and is purged after that. Requires a service credential. Null if an error is returned. Errors: NOT_FOUND, CONFLICT.',
    credential: 'service',
    args: { ...keyArgs, ...changeArgs, ...idempotencyArgs },
    resolve: async (caller, args, { keys }) => ({
      action: 'deleted' as const,
      ...(await keys.deleteOrgKey(caller, withoutNulls(args))),
    }),
  }),
);

builder.mutationField('restoreOrgKey', (t) =>
  t.field({
    type: OrgKeyUpdate,
    nullable: true,
    description:
      'Restores a deleted key. Requires a service credential. Null if an error is returned. Errors: NOT_FOUND if there is no deleted key with this identifier, CONFLICT.',
    credential: 'service',
    args: { ...keyArgs, ...changeArgs },
    resolve: async (caller, args, { keys }) => ({
      action: 'restored' as const,
      ...(await keys.restoreOrgKey(caller, withoutNulls(args))),
    }),
  }),
);

builder.mutationField('revertOrgKey', (t) =>
  t.field({
    type: OrgKeyUpdate,
    nullable: true,
    description:
      'Restores the definition of an earlier version, as a new version. Secrets and the live quota are kept. Requires a service credential. Null if an error is returned. Errors: NOT_FOUND if the key or the version does not exist, CONFLICT.',
    credential: 'service',
    args: {
      ...keyArgs,
      toVersion: t.arg.int({
        required: true,
        description: 'The version whose definition to restore, at least 1. Example: 2.',
      }),
      ...changeArgs,
    },
    resolve: async (caller, args, { keys }) => ({
      action: 'modified' as const,
      ...(await keys.revertOrgKey(caller, withoutNulls(args))),
    }),
  }),
);
