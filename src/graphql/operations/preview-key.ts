import type { KeyPreview as DomainPreview } from '../../keys/queries/preview-key.js';
import { viewOf } from '../../keys/definition/view.js';
import type { SecretName } from '../../keys/definition/normalize.js';
import { builder } from '../schema/builder.js';
import { callerOf } from '../context.js';
import { KeyDefinition, PreviewKeyInput } from '../types/key-definition.js';
import { Warning } from '../types/warning.js';

const KeyPreview = builder.objectRef<DomainPreview>('KeyPreview').implement({
  description: 'What a definition would be as a key. Nothing of it is stored.',
  fields: (t) => ({
    apiModel: t.field({
      type: 'JSONObject',
      description: 'Always an empty object, for clients of the key API.',
      resolve: () => ({}),
    }),
    data: t.field({
      type: KeyDefinition,
      description: 'The definition in its normal form; secrets show as set or not set.',
      resolve: viewOfPreview,
    }),
    keyHash: t.exposeString('keyHash', {
      description:
        'Hash of the key identifier, in lower-case hex: SHA-256, unless the service is set to another. Logs name the key by it.',
    }),
    keyID: t.exposeID('keyID', {
      description:
        'The key identifier that was sent, or a new one: the organisation’s identifier and 32 random hex digits.',
    }),
    warnings: t.field({
      type: [Warning],
      description: 'What deserves a second look in the definition, though it is valid; mostly empty.',
      resolve: ({ warnings }) => [...warnings],
    }),
  }),
});

builder.queryField('previewKey', (t) =>
  t.field({
    type: KeyPreview,
    description:
      'Checks and normalises a key definition and hashes its identifier, without storing anything. Needs a management credential (`Authorization: Bearer …`). Errors: INVALID with every problem in `extensions.issues`, FORBIDDEN for another organisation than the credential’s.',
    extensions: { credential: 'management' },
    args: { input: t.arg({ type: PreviewKeyInput, required: true, description: 'The definition to check.' }) },
    resolve: (_, { input }, context) => context.keys.preview(callerOf(context, 'management'), input),
  }),
);

function viewOfPreview({ definition, secrets }: DomainPreview) {
  const set = Object.entries(secrets).flatMap(([name, value]) => (value === null ? [] : [name as SecretName]));
  return viewOf(definition, new Set(set));
}
