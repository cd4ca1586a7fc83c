import { AppError } from '../../lib/errors.js';
import { builder } from '../schema/builder.js';
import { callerOf } from '../context.js';
import { OrgKey } from '../types/org-key.js';

builder.queryField('orgKey', (t) =>
  t.field({
    type: OrgKey,
    nullable: true,
    description:
      'Fetches a key by its identifier or by its hash. Null if it does not exist, is deleted, or belongs to an organisation that the credential cannot see. Requires a service credential. Errors: INVALID unless exactly one argument is given.',
    extensions: { credential: 'service' },
    args: {
      keyID: t.arg.id({ description: 'Identifier of the key. Cannot be combined with `keyHash`.' }),
      keyHash: t.arg.string({
        description: 'Hash of the identifier, as in `OrgKey.keyHash`. Cannot be combined with `keyID`.',
      }),
    },
    resolve: (_, { keyID, keyHash }, context) =>
      context.keys.orgKey(callerOf(context, 'service'), referenceOf(keyID, keyHash)),
  }),
);

function referenceOf(keyID: string | number | null | undefined, keyHash: string | null | undefined) {
  if (keyID !== null && keyID !== undefined && typeof keyHash !== 'string') return { keyID: String(keyID) };
  if (typeof keyHash === 'string' && (keyID === null || keyID === undefined)) return { keyHash };
  const message = 'Specify exactly one of `keyID` and `keyHash`.';
  throw new AppError('INVALID', message, {
    issues: [{ path: ['keyID'], code: 'MALFORMED_ARGUMENT', message: 'must be given exactly if `keyHash` is not' }],
  });
}
