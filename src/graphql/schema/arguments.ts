import { builder } from './builder.js';

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

/** Removes null arguments, which mean the same as omitted arguments. */
export function withoutNulls<Args extends object>(args: Args): { [Name in keyof Args]: Exclude<Args[Name], null> } {
  const entries = Object.entries(args).filter(([, value]) => value !== null);
  return Object.fromEntries(entries) as ReturnType<typeof withoutNulls<Args>>;
}
