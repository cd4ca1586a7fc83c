import { builder } from '../schema/builder.js';
import { changeArgs, changeOptionsOf, keyArgs } from './args.js';
import { callerOf } from '../context.js';
import { UpdateKeyInput } from '../types/key-definition.js';
import { OrgKeyUpdate } from '../types/mutation-payload.js';

builder.mutationField('createOrgKey', (t) =>
  t.field({
    type: OrgKeyUpdate,
    description:
      'Creates a key of an organisation. Needs a service credential. Errors: INVALID, FORBIDDEN for another organisation than the credential’s, CONFLICT where the key exists, also where it is deleted and can be restored.',
    extensions: { credential: 'service' },
    args: {
      keyID: t.arg.id({
        description:
          'Identifier of the key, of at most 255 bytes and without a slash. Where it is absent a new one is made: the organisation’s identifier and 32 random hex digits.',
      }),
      input: t.arg({
        type: UpdateKeyInput,
        required: true,
        description: 'The definition. It names the owner in `orgID`, unless the credential is bound to one.',
      }),
      reason: t.arg.string({ description: 'Why, for the history: at most 500 characters, and no secrets.' }),
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
      'Deletes a key. It can be restored for as many days as the service is set to, and is purged after them. Needs a service credential. Errors: NOT_FOUND, CONFLICT.',
    extensions: { credential: 'service' },
    args: { ...keyArgs, ...changeArgs },
    resolve: async (_, { keyID, ...options }, context) => ({
      action: 'deleted' as const,
      ...(await context.keys.deleteOrgKey(callerOf(context, 'service'), String(keyID), changeOptionsOf(options))),
    }),
  }),
);

builder.mutationField('restoreOrgKey', (t) =>
  t.field({
    type: OrgKeyUpdate,
    description:
      'Puts a deleted key back as it was. Needs a service credential. Errors: NOT_FOUND where there is nothing to restore, CONFLICT.',
    extensions: { credential: 'service' },
    args: { ...keyArgs, ...changeArgs },
    resolve: async (_, { keyID, ...options }, context) => ({
      action: 'restored' as const,
      ...(await context.keys.restoreOrgKey(callerOf(context, 'service'), String(keyID), changeOptionsOf(options))),
    }),
  }),
);

builder.mutationField('revertOrgKey', (t) =>
  t.field({
    type: OrgKeyUpdate,
    description:
      'Puts the definition of an earlier version back, as a new version. Secrets and the live quota stay as they are. Needs a service credential. Errors: NOT_FOUND, also for the version, CONFLICT.',
    extensions: { credential: 'service' },
    args: {
      ...keyArgs,
      toVersion: t.arg.int({
        required: true,
        description: 'The version whose definition is wanted, from 1. Example: 2.',
      }),
      ...changeArgs,
    },
    resolve: async (_, { keyID, toVersion, ...options }, context) => ({
      action: 'modified' as const,
      ...(await context.keys.revertOrgKey(
        callerOf(context, 'service'),
        String(keyID),
        toVersion,
        changeOptionsOf(options),
      )),
    }),
  }),
);
