import type { InputFieldMap, InputObjectRef, ObjectRef } from '@pothos/core';
import * as z from 'zod';
import {
  descriptionOf,
  inputDescriptionOf,
  memberOf,
  maxCharacters,
  maxMembers,
  objectTraitsOf,
  scalarOf,
  shapeOf,
  traitsOf,
  type Scalar,
} from '../../keys/definition/introspection.js';
import { isFreeForm, type FieldTraits } from '../../keys/definition/field-types.js';
import { builder, type SchemaTypes } from './builder.js';

/*
 * Builds GraphQL types from the zod schema of the definition. All casts between the types of zod and of Pothos are in this
 * file.
 */

type ZodSchema = z.core.$ZodType;

const nestedInputs = new Map<string, InputObjectRef<SchemaTypes, unknown>>();

/**
 * Builds an input type with the fields of a zod object. A nested type is named `<Name>Input`. A field has its type in
 * `declared`, so that it has the same type in every input and output.
 */
export function inputTypeFromZod<Shape>(
  name: string,
  schema: ZodSchema,
  description: string,
  declared: ZodSchema = schema,
): InputObjectRef<SchemaTypes, Shape> {
  const ref = builder.inputRef<object>(name);
  ref.implement({
    description,
    fields: (t) => {
      const fields = Object.entries(shapeOf(schema) ?? {}).map(([field, inner]) => {
        const options = {
          description: descriptionWithLimits(inner),
          required: !isOptional(inner),
          ...deprecationOf(inner),
        };
        const typed = shapeOf(declared)?.[field] ?? inner;
        const member = memberOf(typed);
        const type = inputType(member ?? typed);
        return [field, t.field({ ...options, type: (member ? [type] : type) as 'String' })];
      });
      return Object.fromEntries(fields) as InputFieldMap;
    },
  });
  return ref as unknown as InputObjectRef<SchemaTypes, Shape>;
}

/** The meaning of null in every output type that is built from zod. */
export const nullMeaning = 'A field is null if it is not set.';

/** Builds an output type with the fields of a zod object, null if not set. A secret `x` becomes the boolean `xSet`. */
export function outputTypeFromZod<Shape>(
  name: string,
  schema: ZodSchema,
  description: string,
): ObjectRef<SchemaTypes, Shape> {
  const ref = builder.objectRef<Record<string, unknown>>(name);
  // The normal form has no deprecated fields: their values are in their successors.
  const visibleFields = Object.entries(shapeOf(schema) ?? {}).filter(([, inner]) => !traitsOf(inner).deprecated);
  const isNullable = (inner: ZodSchema) => traitsOf(inner).secret === undefined && isOptional(inner);
  ref.implement({
    description: visibleFields.some(([, inner]) => isNullable(inner)) ? `${description} ${nullMeaning}` : description,
    fields: (t) => {
      const fields = visibleFields.map(([field, inner]) => {
        const isSecret = traitsOf(inner).secret !== undefined;
        const fieldName = isSecret ? `${field}Set` : field;
        const member = memberOf(inner);
        const type = isSecret ? 'Boolean' : outputType(member ?? inner);
        const fieldRef = t.expose(fieldName as never, {
          type: (member ? [type] : type) as 'String',
          nullable: isNullable(inner) as true,
          extensions: { isSensitive: !isSecret && mayContainSecret(traitsOf(inner)) },
          description: isSecret ? `Whether \`${field}\` is set. Its value is never returned.` : descriptionOf(inner),
        });
        return [fieldName, fieldRef] as const;
      });
      return Object.fromEntries(fields);
    },
  });
  return ref as unknown as ObjectRef<SchemaTypes, Shape>;
}

/** Whether a field may contain a secret of a client: a key identifier, or free-form data. */
function mayContainSecret(traits: FieldTraits): boolean {
  return traits.scalar === 'ID' || isFreeForm(traits);
}

function inputType(schema: ZodSchema): Scalar | InputObjectRef<SchemaTypes, unknown> {
  const object = objectTraitsOf(schema);
  if (!object) return scalarOf(schema);
  const existing = nestedInputs.get(object.name);
  if (existing) return existing;
  const created = inputTypeFromZod<unknown>(`${object.name}Input`, schema, object.description);
  nestedInputs.set(object.name, created);
  return created;
}

const nestedOutputs = new Map<string, ObjectRef<SchemaTypes, unknown>>();

function outputType(schema: ZodSchema): Scalar | ObjectRef<SchemaTypes, unknown> {
  const object = objectTraitsOf(schema);
  if (!object) return scalarOf(schema);
  const existing = nestedOutputs.get(object.name);
  if (existing) return existing;
  const created = outputTypeFromZod<unknown>(object.name, schema, object.description);
  nestedOutputs.set(object.name, created);
  return created;
}

/**
 * When deprecated inputs are removed from the GraphQL API. The REST key API keeps them. Output fields are not deprecated: a
 * client selects all of them, so that an update with an edited definition removes none.
 */
const removal = 'Will be removed after 2027-06-30.';

function deprecationOf(schema: ZodSchema): { readonly deprecationReason?: string } {
  const { deprecated, obsolete } = traitsOf(schema);
  const notice = deprecated ?? obsolete;
  return notice === undefined ? {} : { deprecationReason: `${notice} ${removal}` };
}

/** Adds the maximum length of a string or list before the example: GraphQL has no syntax for it. */
function descriptionWithLimits(schema: ZodSchema): string {
  const { scalar, serverOwned } = traitsOf(schema);
  const description = inputDescriptionOf(schema);
  // Identifiers and dates have formats of their own.
  if (scalar || serverOwned) return description;
  const [text, ...example] = description.split(/(?= Example: )/);
  return [text, ...describeLimits(schema), ...example].join('');
}

function describeLimits(schema: ZodSchema): string[] {
  const [characters, members] = [maxCharacters(memberOf(schema) ?? schema), maxMembers(schema)];
  if (members === undefined) return characters === undefined ? [] : [` At most ${characters} characters.`];
  return [` At most ${members} items${characters === undefined ? '' : ` of at most ${characters} characters each`}.`];
}

function isOptional(schema: ZodSchema): boolean {
  return schema instanceof z.ZodOptional;
}

/** The enum values for a record from names to descriptions. */
export function enumValuesOf<Name extends string>(table: Readonly<Record<Name, string>>) {
  const values = Object.entries<string>(table).map(([name, description]) => [
    name.toUpperCase(),
    { value: name, description },
  ]);
  return Object.fromEntries(values) as Record<Uppercase<Name>, { value: Name; description: string }>;
}
