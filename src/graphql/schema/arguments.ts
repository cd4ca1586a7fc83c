import type { InputShapeFromFields } from '@pothos/core';
import type { KeyReference } from '../../keys/queries/read-keys.js';
import { AppError } from '../../lib/errors.js';
import { builder } from './builder.js';

/** The argument of mutations that clients may repeat. */
export const idempotencyArgs = builder.args((t) => ({
  idempotencyKey: t.string({
    description:
      'Key by which the request can be repeated, such as a UUID: within 24 hours, the same request with the same key returns the first result and changes nothing more. 1 to 255 visible ASCII characters. INVALID if it was used for another request.',
  }),
}));

/** The key to change: its identifier or its hash. */
export const keyArgs = builder.args((t) => ({
  keyID: t.id({
    description:
      'Identifier of the key, as in `OrgKey.keyID`. Required unless `keyHash` is given. Example: acme-billing.',
  }),
  keyHash: t.string({
    description: 'Hash of the key, as in `OrgKey.keyHash`, or of an identifier of it, instead of `keyID`.',
  }),
}));

/** The reason for a change. */
export const reasonArgs = builder.args((t) => ({
  reason: t.string({
    description: 'Reason for the change, recorded in the history. At most 500 characters, no secrets.',
  }),
}));

/** The arguments of every change of an existing key. */
export const changeArgs = {
  ...builder.args((t) => ({
    expectedVersion: t.int({
      description: 'Rejects the change with CONFLICT unless the key has this version. Default: any version.',
    }),
  })),
  ...reasonArgs,
};

/**
 * Returns the request of a change of one key, from its arguments.
 *
 * @throws {AppError} INVALID unless exactly one of `keyID` and `keyHash` is given.
 */
export function requestFrom<Args extends InputShapeFromFields<typeof keyArgs>>({ keyID, keyHash, ...args }: Args) {
  return { ...withoutNulls(args), ...referenceFrom(keyID ?? undefined, keyHash ?? undefined) };
}

function referenceFrom(keyID: string | undefined, keyHash: string | undefined): KeyReference {
  if (keyID !== undefined && keyHash === undefined) return { keyID };
  if (keyHash !== undefined && keyID === undefined) return { keyHash };
  const [code, message] =
    keyID === undefined
      ? (['MISSING', 'is required, or `keyHash`'] as const)
      : (['MALFORMED_ARGUMENT', 'must not be combined with `keyHash`'] as const);
  throw new AppError('INVALID', 'One identifier or hash of a key is required.', {
    issues: [{ path: ['keyID'], code, message }],
  });
}

/**
 * Returns the key that these arguments name; undefined if both are absent.
 *
 * @throws {AppError} INVALID if both are given.
 */
export function optionalReferenceFrom(keyID: string | undefined, keyHash: string | undefined) {
  return keyID === undefined && keyHash === undefined ? undefined : referenceFrom(keyID, keyHash);
}

/** Removes null arguments, which mean the same as omitted arguments. */
export function withoutNulls<Args extends object>(args: Args): { [Name in keyof Args]: Exclude<Args[Name], null> } {
  const entries = Object.entries(args).filter(([, value]) => value !== null);
  return Object.fromEntries(entries) as ReturnType<typeof withoutNulls<Args>>;
}
