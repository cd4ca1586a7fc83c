import type { KeyChange } from '../../keys/change.js';
import { changeArgs, idempotencyArgs, keyArgs, reasonArgs, requestFrom, withoutNulls } from './arguments.js';
import { builder } from './builder.js';
import { changedKeyFields, definitionOutcomeFields, OrgKeyChangePreview, type DefinitionOutcome } from './change.js';
import { CreateKeyInput } from './definition.js';

const CreateOrgKeyPayload = builder.objectRef<DefinitionOutcome>('CreateOrgKeyPayload').implement({
  description: 'The result of a creation. The key is durable when the response is sent.',
  fields: definitionOutcomeFields,
});

builder.mutationField('createOrgKey', (t) =>
  t.field({
    type: CreateOrgKeyPayload,
    nullable: true,
    description:
      'Creates a key of an organization. Requires a service credential. Null if an error is returned. Errors: FORBIDDEN for an organization other than that of the credential, CONFLICT if the key exists or is deleted but not purged.',
    credential: 'service',
    args: {
      keyID: t.arg.id({
        description:
          'Identifier of the key, at most 255 bytes and without a slash. Recommended: omit it, so that the service generates one that cannot be guessed.',
      }),
      prefix: t.arg.string({
        description:
          'Readable beginning of a generated identifier, which `_` (unless it ends in a dot, hyphen or underscore), 32 random hex digits and 8 of their CRC-32 follow. 1 to 64 letters, digits, dots, hyphens and underscores. INVALID together with `keyID`. Default: the identifier of the organization. Example: acme_live_.',
      }),
      input: t.arg({
        type: CreateKeyInput,
        required: true,
        description: 'The definition. `orgID` is required unless the credential is bound to an organization.',
      }),
      ...reasonArgs,
      ...idempotencyArgs,
    },
    // The order of the members must not change: their hash identifies a repeated request.
    resolve: (caller, { keyID, prefix, input, reason, idempotencyKey }, { keys }) =>
      keys.createOrgKey(caller, withoutNulls({ keyID, keyIDPrefix: prefix, input, reason, idempotencyKey })),
  }),
);

const DeleteOrgKeyPayload = builder.objectRef<KeyChange>('DeleteOrgKeyPayload').implement({
  description: 'The result of a deletion. The change is durable when the response is sent.',
  fields: changedKeyFields,
});

builder.mutationField('deleteOrgKey', (t) =>
  t.field({
    type: DeleteOrgKeyPayload,
    nullable: true,
    description:
      'Deletes a key. It can be restored for the configured number of days and is purged after that. Requires a service credential. Null if an error is returned. Errors: NOT_FOUND, CONFLICT.',
    credential: 'service',
    args: { ...keyArgs, ...changeArgs, ...idempotencyArgs },
    resolve: (caller, args, { keys }) => keys.deleteOrgKey(caller, requestFrom(args)),
  }),
);

const RestoreOrgKeyPayload = builder.objectRef<KeyChange>('RestoreOrgKeyPayload').implement({
  description: 'The result of restoring a deleted key. The change is durable when the response is sent.',
  fields: changedKeyFields,
});

builder.mutationField('restoreOrgKey', (t) =>
  t.field({
    type: RestoreOrgKeyPayload,
    nullable: true,
    description:
      'Restores a deleted key. Requires a service credential. Null if an error is returned. Errors: NOT_FOUND if there is no deleted key with this identifier, CONFLICT.',
    credential: 'service',
    args: { ...keyArgs, ...changeArgs, ...idempotencyArgs },
    resolve: (caller, args, { keys }) => keys.restoreOrgKey(caller, requestFrom(args)),
  }),
);

const RevertOrgKeyPayload = builder.objectRef<KeyChange>('RevertOrgKeyPayload').implement({
  description: 'The result of a revert. The change is durable when the response is sent.',
  fields: changedKeyFields,
});

/** The arguments of a revert and of its preview. */
const revertArgs = {
  ...keyArgs,
  ...builder.args((t) => ({
    toVersion: t.int({
      required: true,
      description: 'The version whose definition to restore, at least 1. Example: 2.',
    }),
  })),
  ...changeArgs,
};

builder.mutationField('revertOrgKey', (t) =>
  t.field({
    type: RevertOrgKeyPayload,
    nullable: true,
    description:
      'Restores the definition of an earlier version, as a new version. Secrets and the live quota are kept. Requires a service credential. Null if an error is returned. Errors: NOT_FOUND if the key or the version does not exist, CONFLICT.',
    credential: 'service',
    args: { ...revertArgs, ...idempotencyArgs },
    resolve: (caller, args, { keys }) => keys.revertOrgKey(caller, requestFrom(args)),
  }),
);

builder.queryField('previewOrgKeyRevert', (t) =>
  t.field({
    type: OrgKeyChangePreview,
    nullable: true,
    description:
      'Predicts the result of `revertOrgKey` with the same arguments. Stores nothing. Requires a service credential. Null if an error is returned. Errors: those of `revertOrgKey`.',
    credential: 'service',
    args: revertArgs,
    resolve: (caller, args, { keys }) => keys.previewOrgKeyRevert(caller, requestFrom(args)),
  }),
);
