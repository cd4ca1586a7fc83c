import type { KeyChange } from '../../keys/change.js';
import type { RunningRotation } from '../../keys/key.js';
import { changeArgs, idempotencyArgs, keyArgs, requestFrom } from './arguments.js';
import { builder } from './builder.js';
import { changedKeyFields } from './change.js';
import { OrgKey } from './key.js';

export const KeyRotation = builder.objectRef<RunningRotation>('KeyRotation').implement({
  description: 'A rotation that runs: until it ends, a key is accepted by two identifiers.',
  fields: (t) => ({
    oldKeyID: t.exposeID('keyID', {
      extensions: { isSensitive: true },
      nullable: true,
      description:
        'The identifier that the key had before, which is accepted until it retires. It can itself be a token: do not log it. Null if only its hash is known.',
    }),
    oldIdentifierHash: t.exposeString('keyHash', { description: 'Hash of `oldKeyID`.' }),
    retiresAt: t.field({
      type: 'KeyDateTime',
      description: 'From this time on, `oldKeyID` is rejected.',
      resolve: ({ retiresAt }) => retiresAt.toISOString(),
    }),
    silence: t.int({
      nullable: true,
      description:
        '`oldKeyID` retires earlier, when the new identifier was used and it had no request for so many seconds. Null if it retires at `retiresAt`.',
      resolve: ({ silence }) => silence?.seconds,
    }),
  }),
});

builder.objectFields(OrgKey, (t) => ({
  identifierHash: t.string({
    description:
      'Hash of `keyID`. The same as `keyHash` until the key is rotated: `keyHash` stays, and this is the hash of the new identifier.',
    resolve: (key, _, { keys }) => keys.identifierHashOf(key),
  }),
  rotation: t.field({
    type: KeyRotation,
    nullable: true,
    description: 'The rotation that runs. Null if the key has one identifier.',
    resolve: (key, _, { keys }) => keys.rotationOf(key),
  }),
}));

const RotateOrgKeyPayload = builder.objectRef<KeyChange>('RotateOrgKeyPayload').implement({
  description: 'The result of a rotation. The change is durable when the response is sent.',
  fields: (t) => ({
    keyID: t.id({
      extensions: { isSensitive: true },
      description: 'The new identifier. It can itself be a token: do not log it. The same as `orgKey.keyID`.',
      resolve: ({ key }, _, { keys }) => keys.newKeyIDOf(key),
    }),
    ...changedKeyFields(t),
  }),
});

builder.mutationField('rotateOrgKey', (t) =>
  t.field({
    type: RotateOrgKeyPayload,
    nullable: true,
    description:
      'Gives a key a new, generated identifier. During the overlap both identifiers are accepted, and are the same key with one version, one history and one quota; then the old one is rejected. Requires a service credential. Null if an error is returned. Errors: NOT_FOUND, CONFLICT with the issue `ROTATION_RUNNING` while an earlier rotation runs.',
    credential: 'service',
    args: {
      ...keyArgs,
      ...builder.args((args) => ({
        overlap: args.int({
          description:
            'How long the old identifier is accepted, in seconds: from 0, for an identifier that leaked, to 7776000 (90 days). Default: 86400 (a day).',
        }),
        silence: args.int({
          description:
            'Retires the old identifier before the overlap ends, when the new one was used and the old one had no request for so many seconds: from 60. Default: it retires at the end of the overlap.',
        }),
        prefix: args.string({
          description:
            'Readable beginning of the new identifier, as in `createOrgKey`. Default: the identifier of the organization.',
        }),
      })),
      ...changeArgs,
      ...idempotencyArgs,
    },
    resolve: (caller, { overlap, silence, prefix, ...args }, { keys }) =>
      keys.rotateOrgKey(caller, {
        ...requestFrom(args),
        overlapSeconds: overlap ?? undefined,
        silenceSeconds: silence ?? undefined,
        keyIDPrefix: prefix ?? undefined,
      }),
  }),
);

const CancelKeyRotationPayload = builder.objectRef<KeyChange>('CancelKeyRotationPayload').implement({
  description: 'The result of canceling a rotation. The change is durable when the response is sent.',
  fields: changedKeyFields,
});

builder.mutationField('cancelKeyRotation', (t) =>
  t.field({
    type: CancelKeyRotationPayload,
    nullable: true,
    description:
      'Ends a rotation before the old identifier retires: the old one stays, and the new one is rejected at once, also if clients use it already. Requires a service credential. Null if an error is returned. Errors: NOT_FOUND, CONFLICT with the issue `NO_ROTATION` if no rotation runs.',
    credential: 'service',
    args: { ...keyArgs, ...changeArgs, ...idempotencyArgs },
    resolve: (caller, args, { keys }) => keys.cancelKeyRotation(caller, requestFrom(args)),
  }),
);
