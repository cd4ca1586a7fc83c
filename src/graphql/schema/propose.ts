import { AppError, type Issue } from '../../lib/errors.js';
import { dateTimeRule, isDateTime } from '../../keys/definition/field-types.js';
import type { ProposedChange } from '../../keys/proposals/request.js';
import { changeArgs, idempotencyArgs, keyArgs, optionalReferenceFrom, withoutNulls } from './arguments.js';
import { builder } from './builder.js';
import { CreateKeyInput, PatchKeyInput, UpdateKeyInput } from './definition.js';
import { KeyProposal } from './proposal.js';

const resetQuota = 'Whether to reset the live quota, as in `updateOrgKey`.';

const UpdateChange = builder.inputType('KeyUpdateChangeInput', {
  description: 'A change as by `updateOrgKey`.',
  fields: (t) => ({
    input: t.field({
      type: UpdateKeyInput,
      required: true,
      description: 'The new definition. Omitted fields are removed, except secrets.',
    }),
    resetQuota: t.boolean({ description: resetQuota }),
  }),
});

const PatchChange = builder.inputType('KeyPatchChangeInput', {
  description: 'A change as by `patchOrgKey`.',
  fields: (t) => ({
    patch: t.field({
      type: PatchKeyInput,
      required: true,
      description: 'The fields to change. Omitted fields keep their values; null clears a field.',
    }),
    resetQuota: t.boolean({ description: resetQuota }),
  }),
});

const RotateChange = builder.inputType('KeyRotateChangeInput', {
  description:
    'A change as by `rotateOrgKey`. The identifier is generated now, and not shown before the change is made.',
  fields: (t) => ({
    overlap: t.int({
      description: 'How long the old identifier is accepted after the change, in seconds. Default: 86400.',
    }),
    silence: t.int({ description: 'Retires the old identifier earlier, after so many seconds without a request.' }),
    prefix: t.string({ description: 'Readable beginning of the new identifier.' }),
  }),
});

const CreateChange = builder.inputType('KeyCreateChangeInput', {
  description: 'A change as by `createOrgKey`.',
  fields: (t) => ({
    input: t.field({ type: CreateKeyInput, required: true, description: 'The definition.' }),
    keyID: t.id({ description: 'Identifier of the key. Default: one is generated now.' }),
    prefix: t.string({ description: 'Readable beginning of a generated identifier.' }),
  }),
});

const RevertChange = builder.inputType('KeyRevertChangeInput', {
  description: 'A change as by `revertOrgKey`.',
  fields: (t) => ({
    toVersion: t.int({ required: true, description: 'The version whose definition to restore, at least 1.' }),
  }),
});

const PlainChange = builder.enumType('KeyPlainChange', {
  description: 'A change that needs nothing but the key.',
  values: {
    DELETE: { description: 'As by `deleteOrgKey`.' },
    RESTORE: { description: 'As by `restoreOrgKey`.' },
    CANCEL_ROTATION: { description: 'As by `cancelKeyRotation`.' },
  } as const,
});

const KeyChangeInput = builder.inputType('KeyChangeInput', {
  isOneOf: true,
  description: 'A change to propose. Exactly one field must be given.',
  fields: (t) => ({
    update: t.field({ type: UpdateChange, description: 'Replace the definition.' }),
    patch: t.field({ type: PatchChange, description: 'Change some fields of the definition.' }),
    revert: t.field({ type: RevertChange, description: 'Restore the definition of an earlier version.' }),
    rotate: t.field({ type: RotateChange, description: 'Give the key another identifier.' }),
    create: t.field({ type: CreateChange, description: 'Create a key. Without `keyID` and `keyHash` of the field.' }),
    plain: t.field({ type: PlainChange, description: 'Delete or restore the key, or cancel its rotation.' }),
  }),
});

/** @throws {AppError} INVALID when there is no change, which validation of the input rejects before. */
function changeFrom(change: (typeof KeyChangeInput)['$inferInput']): ProposedChange {
  const { update, patch, revert, rotate, create, plain } = change;
  const definitionOptions = (reset: boolean | null | undefined) => ({
    resetQuota: reset ?? false,
    // GraphQL returns large integers as decimal strings.
    hasDecimalStrings: true,
  });
  if (update) return { kind: 'UPDATE', content: { input: update.input, ...definitionOptions(update.resetQuota) } };
  if (patch) return { kind: 'PATCH', content: { patch: patch.patch, ...definitionOptions(patch.resetQuota) } };
  if (revert) return { kind: 'REVERT', content: { toVersion: revert.toVersion } };
  if (rotate) {
    const { overlap, silence, prefix } = rotate;
    const content = withoutNulls({ overlapSeconds: overlap, silenceSeconds: silence, keyIDPrefix: prefix });
    return { kind: 'ROTATE', content };
  }
  if (create) {
    const { input, keyID, prefix } = create;
    return { kind: 'CREATE', content: withoutNulls({ input, keyID, keyIDPrefix: prefix }) };
  }
  if (plain) return { kind: plain, content: {} };
  throw invalid({ path: ['change'], code: 'MISSING', message: 'must have exactly one field that is not null' });
}

function invalid(issue: Issue): AppError {
  return new AppError('INVALID', 'The proposal is not valid.', { issues: [issue] });
}

/** @throws {AppError} INVALID unless a key is named, or is created. */
function requireReference({ kind }: ProposedChange, isNamed: boolean, hasVersion: boolean): void {
  if (kind !== 'CREATE' && !isNamed)
    throw invalid({ path: ['keyID'], code: 'MISSING', message: 'is required, or `keyHash`' });
  if (kind !== 'CREATE' || (!isNamed && !hasVersion)) return;
  const message = 'must not be combined with `change.create`';
  throw invalid({ path: [isNamed ? 'keyID' : 'expectedVersion'], code: 'MALFORMED_ARGUMENT', message });
}

/** @throws {AppError} INVALID with the path `applyAt`. */
function timeFrom(text: string): Date {
  if (isDateTime(text)) return new Date(text);
  throw invalid({ path: ['applyAt'], code: 'MALFORMED_DATE', message: dateTimeRule });
}

builder.mutationField('proposeKeyChange', (t) =>
  t.field({
    type: KeyProposal,
    nullable: true,
    description:
      'Stores a change with its dry run, to be made when another person approves it, or at its time. With the scope of the change itself and `applyAt`, it needs no approval. Requires a service credential with the scopes `read` and `propose`. Null if an error is returned. Errors: those of the change, INVALID if it would change nothing, CONFLICT if the organization has 100 proposals that have not ended.',
    credential: 'service',
    args: {
      ...keyArgs,
      change: t.arg({ type: KeyChangeInput, required: true, description: 'The change.' }),
      applyAt: t.arg({
        type: 'KeyDateTime',
        description:
          'When to make the change, at most 90 days ahead. It is made within seconds, and if no service runs then, when one starts. Default: when it is approved.',
      }),
      ...changeArgs,
      ...idempotencyArgs,
    },
    resolve: (caller, { keyID, keyHash, change: sent, applyAt, expectedVersion, reason, ...args }, { keys }) => {
      const change = changeFrom(sent);
      const reference = optionalReferenceFrom(keyID ?? undefined, keyHash ?? undefined);
      requireReference(change, reference !== undefined, typeof expectedVersion === 'number');
      return keys.proposeKeyChange(caller, {
        change,
        reference,
        applyAt: typeof applyAt === 'string' ? timeFrom(applyAt) : undefined,
        expectedVersion: expectedVersion ?? undefined,
        reason: reason ?? undefined,
        idempotencyKey: args.idempotencyKey ?? undefined,
      });
    },
  }),
);
