import { builder } from '../schema/builder.js';
import { OrgKey } from '../types/org-key.js';

const OrgKeyByInput = builder.inputType('OrgKeyByInput', {
  isOneOf: true,
  description: 'Selects a key. Exactly one field must be given.',
  fields: (t) => ({
    keyID: t.id({ description: 'Identifier of the key. Example: acme-billing.' }),
    keyHash: t.string({ description: 'Hash of the identifier, as in `OrgKey.keyHash`.' }),
  }),
});

builder.queryField('orgKey', (t) =>
  t.field({
    type: OrgKey,
    nullable: true,
    description:
      'Fetches a key by its identifier or by its hash. Null if it does not exist, is deleted, or belongs to an organisation that the credential cannot see. Requires a service credential.',
    credential: 'service',
    args: {
      by: t.arg({ type: OrgKeyByInput, required: true, description: 'The identifier or the hash of the key.' }),
    },
    resolve: (caller, { by: { keyID, keyHash } }, { keys, loaders }) =>
      loaders.orgKeys.load(keyID === undefined ? keyHash : keys.keyHashOf(caller, keyID)),
  }),
);
