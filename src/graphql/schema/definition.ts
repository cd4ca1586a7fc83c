import { KeyDefinition as keyDefinitionSchema } from '../../keys/definition/schema.js';
import { PreviewInput, standardSchema, UpdateInput } from '../../keys/definition/parse.js';
import type { DefinitionPatch } from '../../keys/definition/patch.js';
import type { DefinitionView } from '../../keys/definition/view.js';
import { changeKinds, type ChangeKind, type FieldChange as DomainChange } from '../../keys/key.js';
import { definitionPathText } from '../path-text.js';
import { builder } from './builder.js';
import { segmentsField } from './issue.js';
import { enumValuesOf, inputTypeFromZod, outputTypeFromZod } from './types-from-zod.js';

/** The definition of a preview as an input type. */
export const PreviewKeyInput = inputTypeFromZod<object>(
  'PreviewKeyInput',
  PreviewInput,
  'A key definition to preview. All fields are optional; null is the same as omitted.',
  keyDefinitionSchema,
).validate(standardSchema('preview'));

/** The definition of a new key as an input type. */
export const CreateKeyInput = inputTypeFromZod<object>(
  'CreateKeyInput',
  UpdateInput,
  'The definition of a new key. All fields are optional; null is the same as omitted.',
  keyDefinitionSchema,
).validate(standardSchema('update'));

/** The definition of an update as an input type. */
export const UpdateKeyInput = inputTypeFromZod<object>(
  'UpdateKeyInput',
  UpdateInput,
  'A definition that replaces the stored one. A field that is omitted or null is removed. Only secrets are kept if they are omitted; null removes a secret.',
  keyDefinitionSchema,
).validate(standardSchema('update'));

/** The fields of a patch as an input type. */
export const PatchKeyInput = inputTypeFromZod<DefinitionPatch>(
  'PatchKeyInput',
  UpdateInput,
  'The fields of a definition to change. An omitted field keeps its value; null clears it. An object is patched in the same way, `metaData` and `oauthKeys` included; any other value replaces the stored one. `accessRights` lists all entries that the key has afterwards; an entry whose `label` the key has already is patched.',
  keyDefinitionSchema,
).validate(standardSchema('patch'));

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
    segments: segmentsField(t),
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
