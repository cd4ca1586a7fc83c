import { KeyDefinition as keyDefinitionSchema } from '../../keys/definition/schema.js';
import { PreviewInput, standardSchema, UpdateInput } from '../../keys/definition/parse.js';
import type { DefinitionView } from '../../keys/definition/view.js';
import { changeKinds, type ChangeKind, type FieldChange as DomainChange } from '../../keys/key.js';
import { definitionPathText } from '../path-text.js';
import { builder } from './builder.js';
import { enumValuesOf, inputTypeFromZod, outputTypeFromZod } from './types-from-zod.js';

/** The definition of a preview as an input type. */
export const PreviewKeyInput = inputTypeFromZod<object>(
  'PreviewKeyInput',
  PreviewInput,
  'A key definition to preview. All fields are optional; null is the same as omitted.',
  keyDefinitionSchema,
).validate(standardSchema('preview'));

/** The definition of an update as an input type. */
export const UpdateKeyInput = inputTypeFromZod<object>(
  'UpdateKeyInput',
  UpdateInput,
  'A key definition. In `updateOrgKey` it replaces the stored one: omitted fields are removed, except secrets, which are kept; null removes a secret. In `updateOrgKeys` it is a patch: omitted fields are kept; null removes a field.',
  keyDefinitionSchema,
).validate(standardSchema('update'));

/** The definition of a stored key as an output type. */
export const KeyDefinition = outputTypeFromZod<DefinitionView>(
  'KeyDefinition',
  keyDefinitionSchema,
  'A key definition in normal form: values of deprecated fields moved to their successors, lists deduplicated, dates in UTC, secrets only as set or not set.',
);

const KeyChangeKind = builder.enumType('KeyChangeKind', {
  description: 'How a field differs between two versions.',
  values: enumValuesOf<ChangeKind>(changeKinds),
});

export const KeyFieldChange = builder.objectRef<DomainChange>('KeyFieldChange').implement({
  description: 'A field that differs between two versions of a key. Values of secrets are never returned.',
  fields: (t) => ({
    path: t.string({
      description:
        'Path of the field in the definition, as in `KeyIssue.path`. An access right is selected by its label. Example: accessRights["invoices"].limit.rate.',
      resolve: ({ path }) => definitionPathText(path),
    }),
    kind: t.expose('kind', { type: KeyChangeKind, description: 'How the field differs.' }),
    before: t.field({
      extensions: { isSensitive: true },
      type: 'JSON',
      nullable: true,
      description: 'The previous value. Null if there was none, and for secrets.',
      resolve: ({ before }) => before ?? null,
    }),
    after: t.field({
      extensions: { isSensitive: true },
      type: 'JSON',
      nullable: true,
      description: 'The new value. Null if there is none, and for secrets.',
      resolve: ({ after }) => after ?? null,
    }),
  }),
});
