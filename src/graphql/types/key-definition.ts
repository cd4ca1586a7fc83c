import { KeyDefinition as Table } from '../../keys/definition/schema.js';
import { PreviewInput, standardSchema, UpdateInput } from '../../keys/definition/parse.js';
import type { DefinitionView } from '../../keys/definition/view.js';
import { deriveInput, deriveOutput } from '../schema/types-from-zod.js';

export const PreviewKeyInput = deriveInput<object>(
  'PreviewKeyInput',
  PreviewInput,
  'A key definition to preview. Every field may be left out; null is the same as leaving it out.',
).validate(standardSchema('preview'));

export const UpdateKeyInput = deriveInput<object>(
  'UpdateKeyInput',
  UpdateInput,
  'A key definition that replaces the stored one. What is left out is gone, except for secrets: those stay until they are replaced, or cleared with null.',
).validate(standardSchema('update'));

export const KeyDefinition = deriveOutput<DefinitionView>(
  'KeyDefinition',
  Table,
  'A key definition in its normal form: deprecated fields moved, lists without repetition, dates in UTC, secrets only as set or not set.',
);
