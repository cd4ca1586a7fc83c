import { KeyDefinition as keyDefinitionSchema } from '../../keys/definition/schema.js';
import { PreviewInput, standardSchema, UpdateInput } from '../../keys/definition/parse.js';
import type { DefinitionView } from '../../keys/definition/view.js';
import { inputTypeFromZod, outputTypeFromZod } from './types-from-zod.js';

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
