import type { InputShapeFromFields } from '@pothos/core';
import { builder } from './builder.js';
import { UpdateKeyInput } from './definition.js';

/** The arguments of every change of an existing key. */
export const changeArgs = builder.args((t) => ({
  expectedVersion: t.int({
    description: 'Rejects the change with CONFLICT unless the key has this version. Default: any version.',
  }),
  reason: t.string({
    description: 'Reason for the change, recorded in the history. At most 500 characters, no secrets.',
  }),
}));

/** The argument of mutations that clients may repeat. */
export const idempotencyArgs = builder.args((t) => ({
  idempotencyKey: t.string({
    description:
      'Key by which the request can be repeated, such as a UUID: within 24 hours, the same request with the same key returns the first result and changes nothing more. 1 to 255 visible ASCII characters. INVALID if it was used for another request.',
  }),
}));

/** The identifier of the key to read or change. */
export const keyArgs = builder.args((t) => ({
  keyID: t.id({
    required: true,
    description: 'Identifier of the key, as in `OrgKey.keyID`. Example: acme-billing.',
  }),
}));

/** The argument of queries that can also read a deleted key. */
export const includeDeleted = {
  type: 'Boolean',
  defaultValue: false,
  description: 'Whether to find a deleted key too, until it is purged.',
} as const;

/** Removes null arguments, which mean the same as omitted arguments. */
export function withoutNulls<Args extends object>(args: Args): { [Name in keyof Args]: Exclude<Args[Name], null> } {
  const entries = Object.entries(args).filter(([, value]) => value !== null);
  return Object.fromEntries(entries) as ReturnType<typeof withoutNulls<Args>>;
}

/** The arguments of an update and of its preview. */
export const updateArgs = {
  ...keyArgs,
  ...builder.args((t) => ({
    input: t.field({
      type: UpdateKeyInput,
      required: true,
      description: 'The new definition. Omitted fields are removed, except secrets.',
    }),
    resetQuota: t.boolean({
      defaultValue: false,
      description:
        'Whether to reset the live quota: the used count becomes 0, `quotaRemaining` becomes `quotaMax`, and `quotaRenews` becomes now plus `quotaRenewalRate` if that is above 0.',
    }),
  })),
  ...changeArgs,
};

/** The request of an update or of its preview. */
export function toUpdateRequest(args: UpdateArgs) {
  // GraphQL returns large integers as decimal strings.
  return { ...withoutNulls(args), resetQuota: args.resetQuota ?? false, hasDecimalStrings: true };
}

type UpdateArgs = InputShapeFromFields<typeof updateArgs>;
