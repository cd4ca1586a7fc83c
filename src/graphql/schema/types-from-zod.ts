import type { InputFieldMap, InputObjectRef, ObjectRef } from '@pothos/core';
import { z } from 'zod';
import {
  descriptionOf,
  memberOf,
  maxCharacters,
  maxMembers,
  objectTraitsOf,
  scalarOf,
  shapeOf,
  traitsOf,
  type Scalar,
} from '../../keys/definition/introspection.js';
import { builder, type SchemaTypes } from './builder.js';

/*
 * Reads the table of fields and builds GraphQL types from it. This is where the types of the table and those of Pothos
 * meet; the casts in this file are what spares every other file its own.
 */

type Schema = z.core.$ZodType;

const nestedInputs = new Map<string, InputObjectRef<SchemaTypes, unknown>>();

/** An input type with a field for each of the table's, named `<Name>Input` where nested. */
export function deriveInput<Shape>(
  name: string,
  schema: Schema,
  description: string,
): InputObjectRef<SchemaTypes, Shape> {
  const ref = builder.inputRef<object>(name);
  ref.implement({
    description,
    fields: (t) => {
      const fields = Object.entries(shapeOf(schema) ?? {}).map(([field, inner]) => {
        const { deprecated } = traitsOf(inner);
        const options = {
          description: boundedDescription(inner),
          required: !isOptional(inner),
          ...(deprecated && { deprecationReason: deprecated }),
        };
        const member = memberOf(inner);
        const type = inputType(member ?? inner);
        return [field, t.field({ ...options, type: (member ? [type] : type) as 'String' })];
      });
      return Object.fromEntries(fields) as InputFieldMap;
    },
  });
  return ref as unknown as InputObjectRef<SchemaTypes, Shape>;
}

/** What null says in every output type of the table. */
export const absence = 'A field is null where it was not given.';

/** An output type with a field for each of the table's, null where it was not given; a secret `x` shows as `xSet`. */
export function deriveOutput<Shape>(name: string, schema: Schema, description: string): ObjectRef<SchemaTypes, Shape> {
  const ref = builder.objectRef<Record<string, unknown>>(name);
  // The normal form has no deprecated field: its value has moved to the successor.
  const shown = Object.entries(shapeOf(schema) ?? {}).filter(([, inner]) => !traitsOf(inner).deprecated);
  const isNullable = (inner: Schema) => traitsOf(inner).secret === undefined && isOptional(inner);
  ref.implement({
    description: shown.some(([, inner]) => isNullable(inner)) ? `${description} ${absence}` : description,
    fields: (t) => {
      const fields = shown.map(([field, inner]) => {
        const isSecret = traitsOf(inner).secret !== undefined;
        const name = isSecret ? `${field}Set` : field;
        const member = memberOf(inner);
        const type = isSecret ? 'Boolean' : outputType(member ?? inner);
        const ref = t.expose(name as never, {
          type: (member ? [type] : type) as 'String',
          nullable: isNullable(inner) as true,
          description: isSecret ? `Whether \`${field}\` is set. Its value is never shown.` : descriptionOf(inner),
        });
        return [name, ref] as const;
      });
      return Object.fromEntries(fields);
    },
  });
  return ref as unknown as ObjectRef<SchemaTypes, Shape>;
}

function inputType(schema: Schema): Scalar | InputObjectRef<SchemaTypes, unknown> {
  const object = objectTraitsOf(schema);
  if (!object) return scalarOf(schema);
  const known = nestedInputs.get(object.name);
  if (known) return known;
  const derived = deriveInput<unknown>(`${object.name}Input`, schema, object.description);
  nestedInputs.set(object.name, derived);
  return derived;
}

const nestedOutputs = new Map<string, ObjectRef<SchemaTypes, unknown>>();

function outputType(schema: Schema): Scalar | ObjectRef<SchemaTypes, unknown> {
  const object = objectTraitsOf(schema);
  if (!object) return scalarOf(schema);
  const known = nestedOutputs.get(object.name);
  if (known) return known;
  const derived = deriveOutput<unknown>(object.name, schema, object.description);
  nestedOutputs.set(object.name, derived);
  return derived;
}

/** GraphQL has no syntax for how long a text or a list may be, so that the description says it, before the example. */
function boundedDescription(schema: Schema): string {
  const { scalar, serverOwned } = traitsOf(schema);
  const description = descriptionOf(schema);
  // Identifiers and dates have a form of their own.
  if (scalar || serverOwned) return description;
  const [text, ...example] = description.split(/(?= Example: )/);
  return [text, ...boundsOf(schema), ...example].join('');
}

function boundsOf(schema: Schema): string[] {
  const [characters, members] = [maxCharacters(memberOf(schema) ?? schema), maxMembers(schema)];
  if (members === undefined) return characters === undefined ? [] : [` At most ${characters} characters.`];
  return [` At most ${members} members${characters === undefined ? '' : ` of at most ${characters} characters`}.`];
}

function isOptional(schema: Schema): boolean {
  return schema instanceof z.ZodOptional;
}

/** The values of an enum whose names and descriptions are declared in a table. */
export function describedEnum<Name extends string>(table: Readonly<Record<Name, string>>) {
  const values = Object.entries<string>(table).map(([name, description]) => [
    name.toUpperCase(),
    { value: name, description },
  ]);
  return Object.fromEntries(values) as Record<Uppercase<Name>, { value: Name; description: string }>;
}
