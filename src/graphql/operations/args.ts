import type { ChangeOptions } from '../../keys/commands/change-key.js';
import { builder } from '../schema/builder.js';

/** The arguments of every change of a key that exists. */
export const changeArgs = builder.args((t) => ({
  expectedVersion: t.int({
    description:
      'The version that the change is meant for: CONFLICT where the key has another by now. Any version where it is absent.',
  }),
  reason: t.string({ description: 'Why, for the history: at most 500 characters, and no secrets.' }),
}));

/** The identifier of the key that an operation is about. */
export const keyArgs = builder.args((t) => ({
  keyID: t.id({
    required: true,
    description: 'Identifier of the key, as some `keyID` field answered it. Example: acme-billing.',
  }),
}));

/** Null is the same as leaving an argument out. */
export function changeOptionsOf(args: {
  expectedVersion?: number | null | undefined;
  reason?: string | null | undefined;
}): ChangeOptions {
  return { expectedVersion: args.expectedVersion ?? undefined, reason: args.reason ?? undefined };
}
