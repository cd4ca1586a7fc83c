import type { SecretName } from '../../keys/definition/normalize.js';
import { viewOf } from '../../keys/definition/view.js';
import type { KeyPreview as DomainPreview } from '../../keys/queries/preview-key.js';
import { KeyEffectiveAccess } from './access.js';
import { builder } from './builder.js';
import { KeyDefinition, PreviewKeyInput } from './definition.js';
import { KeyWarning } from './issue.js';

const KeyPreview = builder.objectRef<DomainPreview>('KeyPreview').implement({
  description: 'The result of a preview. Nothing is stored.',
  fields: (t) => ({
    apiModel: t.field({
      extensions: { isCompatibility: true },
      type: 'JSONObject',
      description: 'Always an empty object, for compatibility with the REST key API.',
      resolve: () => ({}),
    }),
    data: t.field({
      type: KeyDefinition,
      description: 'The definition in normal form. Secrets are returned as set or not set.',
      resolve: viewOfPreview,
    }),
    keyHash: t.exposeString('keyHash', {
      description:
        'Hash of the key identifier in lower-case hex: SHA-256 unless configured otherwise. Logs identify the key by it.',
    }),
    keyID: t.exposeID('keyID', {
      extensions: { isSensitive: true },
      description:
        'The key identifier that was sent, or a new one: the identifier of the organization, `_`, 32 random hex digits and 8 of their CRC-32.',
    }),
    effective: t.field({
      type: KeyEffectiveAccess,
      description: 'What the key may do with its policies, as they are imported now.',
      resolve: ({ sources }) => sources,
    }),
    warnings: t.field({
      type: [KeyWarning],
      description: 'Warnings about the definition; often empty.',
      resolve: ({ warnings }) => [...warnings],
    }),
  }),
});

builder.queryField('previewKey', (t) =>
  t.field({
    type: KeyPreview,
    nullable: true,
    description:
      'Validates and normalizes a key definition and hashes its identifier. Stores nothing. Requires a management credential (`Authorization: Bearer …`). Null if an error is returned. Errors: INVALID with all problems in `extensions.issues`, FORBIDDEN for an organization other than that of the credential.',
    credential: 'management',
    args: { input: t.arg({ type: PreviewKeyInput, required: true, description: 'The definition to validate.' }) },
    resolve: (caller, { input }, { keys }) => keys.preview(caller, input),
  }),
);

function viewOfPreview({ definition, secrets }: DomainPreview) {
  const set = Object.entries(secrets).flatMap(([name, value]) => (value === null ? [] : [name as SecretName]));
  return viewOf(definition, new Set(set));
}
