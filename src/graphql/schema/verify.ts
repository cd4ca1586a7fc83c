import type { Verification } from '../../keys/verify.js';
import { KeyAccessCode, KeyAccessReason, KeyLimitValues, KeyProof } from './access.js';
import { keyArgs, requestFrom } from './arguments.js';
import { builder } from './builder.js';
import { KeyQuota } from './quota.js';

const KeyVerification = builder.objectRef<Verification>('KeyVerification').implement({
  description: 'The decision about a request with a key, for the gateway that received it.',
  fields: (t) => ({
    isAllowed: t.exposeBoolean('isAllowed', {
      description: 'Whether the request is allowed. If true, it was counted; if false, it was not.',
    }),
    code: t.expose('code', { type: KeyAccessCode, description: 'VALID, or the first reason to deny the request.' }),
    reasons: t.field({
      type: [KeyAccessReason],
      description: 'All reasons to deny the request; empty if it is allowed.',
      resolve: ({ reasons }) => [...reasons],
    }),
    keyHash: t.string({
      nullable: true,
      description: 'Hash of the identifier of the key. Null if there is no key.',
      resolve: ({ keyHash }) => keyHash,
    }),
    orgID: t.id({
      nullable: true,
      description: 'Identifier of the organization that owns the key. Null if there is no key.',
      resolve: ({ orgID }) => orgID,
    }),
    alias: t.string({
      nullable: true,
      description: 'Display name of the key. Null if it has none.',
      resolve: ({ alias }) => alias,
    }),
    limits: t.expose('limits', {
      type: KeyLimitValues,
      description:
        'Limits that apply to the request: those of its API, or of the key if it names none. The gateway enforces them, except for the quota of the key.',
    }),
    quota: t.field({
      type: KeyQuota,
      nullable: true,
      description:
        'The live quota with the effective maximum and period, including the request if it is allowed. Null if there is no key, or the counter was not read for a request that is denied for another reason.',
      resolve: ({ quota }) => quota,
    }),
  }),
});

builder.mutationField('verifyKey', (t) =>
  t.field({
    type: KeyVerification,
    nullable: true,
    description:
      'Decides for a gateway whether a request with a key is allowed, and counts it against the live quota if it is. Exact under concurrency and across restarts. An identifier that no key has, or a key that the credential cannot see, is NOT_FOUND in `code`. Requires a service credential. Null if an error is returned. Errors: INVALID if `amount` is below 0.',
    credential: 'service',
    args: {
      ...keyArgs,
      api: t.arg.string({
        description:
          'Name of the API at the gateway. If it is omitted, access rights are not checked. Example: invoices.',
      }),
      version: t.arg.string({ description: 'Version of the API. If it is omitted, versions are not checked.' }),
      method: t.arg.string({ description: 'HTTP method, in any case. Example: GET.' }),
      path: t.arg.string({
        description: 'Path of the request as the client sends it; a query is ignored. Example: /invoices/7.',
      }),
      amount: t.arg({
        type: 'Int64',
        defaultValue: 1n,
        description: 'Number of requests that it takes from the quota. 0 leaves the quota out of the decision.',
      }),
      proofs: t.arg({ type: [KeyProof], description: 'What the client has proved beside the identifier.' }),
      idempotencyKey: t.arg.string({
        description:
          'Identifies the request at the gateway: within 24 hours, it is counted once with the same arguments, and decided each time. 1 to 255 visible ASCII characters.',
      }),
    },
    resolve: (caller, args, { keys }) => keys.verifyKey(caller, requestFrom(args)),
  }),
);
