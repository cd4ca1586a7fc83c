import { builder } from '../schema/builder.js';
import { PreviewKeyInput } from '../schema/definition.js';
import { KeyPreview } from '../schema/preview.js';

builder.queryField('previewKey', (t) =>
  t.field({
    type: KeyPreview,
    nullable: true,
    description:
      'Validates and normalises a key definition and hashes its identifier. Stores nothing. Requires a management credential (`Authorization: Bearer …`). Null if an error is returned. Errors: INVALID with all problems in `extensions.issues`, FORBIDDEN for an organisation other than that of the credential.',
    credential: 'management',
    args: { input: t.arg({ type: PreviewKeyInput, required: true, description: 'The definition to validate.' }) },
    resolve: (caller, { input }, { keys }) => keys.preview(caller, input),
  }),
);
