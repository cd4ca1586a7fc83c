import * as z from 'zod';
import { $ZodCheckMaxLength } from 'zod/v4/core';
import type { Path } from '../../lib/errors.js';
import { fieldTraits, objectTraits, type FieldTraits } from './field-types.js';

const unwrapped = new WeakMap<z.core.$ZodType, z.core.$ZodType>();

/**
 * Returns the schema inside wrappers: of an optional or nullable schema the inner one, of a pipe its output.
 *
 * @param schema any schema of zod; results are cached
 * @returns the schema itself if it has no wrapper
 */
export function unwrapSchema(schema: z.core.$ZodType): z.core.$ZodType {
  const known = unwrapped.get(schema);
  if (known) return known;
  const inner = findInner(schema);
  unwrapped.set(schema, inner);
  return inner;
}

function findInner(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return unwrapSchema(schema.def.innerType);
  if (schema instanceof z.ZodPipe) return unwrapSchema(schema.def.out);
  return schema;
}

/** Returns the fields of an object schema, undefined for other schemas. */
export function shapeOf(schema: z.core.$ZodType): z.core.$ZodShape | undefined {
  const inner = unwrapSchema(schema);
  return inner instanceof z.ZodObject ? inner.def.shape : undefined;
}

/** Returns the schema of a list's items, undefined for other schemas. */
export function memberOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const inner = unwrapSchema(schema);
  return inner instanceof z.ZodArray ? inner.def.element : undefined;
}

/** Returns the fields of the object at a path, or none if there is no object at it. */
export function shapeAt(schema: z.core.$ZodType, path: Path): z.core.$ZodShape {
  let at: z.core.$ZodType | undefined = schema;
  for (const step of path) {
    if (at === undefined) break;
    at = typeof step === 'number' ? memberOf(at) : shapeOf(at)?.[step];
  }
  return (at && shapeOf(at)) ?? {};
}

/** Returns the traits of a field. */
export function traitsOf(schema: z.core.$ZodType): FieldTraits {
  return (schema instanceof z.ZodType && fieldTraits.get(schema)) || {};
}

/** Returns the description of a field. */
export function descriptionOf(schema: z.core.$ZodType): string {
  const description = schema instanceof z.ZodType ? schema.description : undefined;
  if (description === undefined) throw new Error('Every field of the definition schema must have a description.');
  return description;
}

/** Returns the description of a field of a request. */
export function inputDescriptionOf(schema: z.core.$ZodType): string {
  const description = descriptionOf(schema);
  if (!traitsOf(schema).emptyIsAbsent) return description;
  return description.replace(/(?= Example: |$)/, ' An empty string means absent.');
}

/** Returns the maximum length of a text in UTF-16 code units, undefined for other schemas. */
export function maxCharacters(schema: z.core.$ZodType): number | undefined {
  const inner = unwrapSchema(schema);
  return inner instanceof z.ZodString ? (inner.maxLength ?? undefined) : undefined;
}

/** Returns the maximum number of items of a list, undefined for other schemas. */
export function maxMembers(schema: z.core.$ZodType): number | undefined {
  const checks = memberOf(schema) && unwrapSchema(schema)._zod.def.checks;
  return checks?.find((check) => check instanceof $ZodCheckMaxLength)?._zod.def.maximum;
}

/** Returns the name and description of an object's type, undefined for other schemas. */
export function objectTraitsOf(schema: z.core.$ZodType) {
  const inner = unwrapSchema(schema);
  return inner instanceof z.ZodObject ? objectTraits.get(inner) : undefined;
}

/** The type of a field that is neither object nor list. `Int` has 32 bits. */
export type Scalar = 'Int64' | 'Int' | 'Float' | 'String' | 'Boolean' | NonNullable<FieldTraits['scalar']>;

/** Returns the scalar of a field. Throws for a zod type without a scalar. */
export function scalarOf(schema: z.core.$ZodType): Scalar {
  const { scalar } = traitsOf(schema);
  if (scalar) return scalar;
  const inner = unwrapSchema(schema);
  switch (inner._zod.def.type) {
    case 'bigint':
      return 'Int64';
    case 'number':
      return inner instanceof z.ZodNumber && inner.format === 'safeint' ? 'Int' : 'Float';
    case 'string':
      return 'String';
    case 'boolean':
      return 'Boolean';
    default:
      throw new Error(`The zod type ${inner._zod.def.type} has no scalar; add one to scalarOf.`);
  }
}
