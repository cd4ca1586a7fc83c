import { builder } from '../schema/builder.js';
import { includeDeleted } from '../schema/arguments.js';
import { OrgKey } from '../schema/key.js';

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
      'Fetches a key by its identifier or by its hash. Null if it does not exist, is deleted (unless `includeDeleted` is true), or belongs to an organisation that the credential cannot see. Requires a service credential.',
    credential: 'service',
    args: {
      by: t.arg({ type: OrgKeyByInput, required: true, description: 'The identifier or the hash of the key.' }),
      includeDeleted: t.arg(includeDeleted),
    },
    resolve: (caller, { by: { keyID, keyHash }, includeDeleted }, { keys, loaders }) => {
      if (includeDeleted === true) {
        return keys.orgKey(caller, keyID === undefined ? { keyHash } : { keyID }, { includeDeleted });
      }
      return loaders.orgKeys.load(keyID === undefined ? keyHash : keys.keyHashOf(caller, keyID));
    },
  }),
);
