import { z } from 'zod';
import type { Path } from '../../lib/errors.js';
import { fieldTraits, objectTraits, type FieldTraits } from './field-types.js';

const cores = new WeakMap<z.core.$ZodType, z.core.$ZodType>();

/** What a field holds once "may be left out", "may be null" and reading rules are taken off. */
export function unwrapSchema(schema: z.core.$ZodType): z.core.$ZodType {
  const known = cores.get(schema);
  if (known) return known;
  const found = findCore(schema);
  cores.set(schema, found);
  return found;
}

function findCore(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return unwrapSchema(schema.def.innerType);
  if (schema instanceof z.ZodPipe) return unwrapSchema(schema.def.out);
  return schema;
}

/** The fields of an object schema, or undefined for any other. */
export function shapeOf(schema: z.core.$ZodType): z.core.$ZodShape | undefined {
  const inner = unwrapSchema(schema);
  return inner instanceof z.ZodObject ? inner.def.shape : undefined;
}

/** The schema of a list's members, or undefined where the schema is no list. */
export function memberOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const inner = unwrapSchema(schema);
  return inner instanceof z.ZodArray ? inner.def.element : undefined;
}

/** The fields of the object that a path leads to; none where it leads to something else. */
export function shapeAt(schema: z.core.$ZodType, path: Path): z.core.$ZodShape {
  let at: z.core.$ZodType | undefined = schema;
  for (const step of path) {
    if (at === undefined) break;
    at = typeof step === 'number' ? memberOf(at) : shapeOf(at)?.[step];
  }
  return (at && shapeOf(at)) ?? {};
}

/** What a field is beyond its type. */
export function traitsOf(schema: z.core.$ZodType): FieldTraits {
  return (schema instanceof z.ZodType && fieldTraits.get(schema)) || {};
}

/** What a field means, for people. */
export function descriptionOf(schema: z.core.$ZodType): string {
  const description = schema instanceof z.ZodType ? schema.description : undefined;
  if (description === undefined) throw new Error('Every field of the table has a description.');
  return description;
}

/** The most characters of a text, in UTF-16 units; undefined for anything else. */
export function maxCharacters(schema: z.core.$ZodType): number | undefined {
  const inner = unwrapSchema(schema);
  return inner instanceof z.ZodString ? (inner.maxLength ?? undefined) : undefined;
}

/** The most members of a list; undefined for anything else. */
export function maxMembers(schema: z.core.$ZodType): number | undefined {
  const checks = memberOf(schema) && unwrapSchema(schema)._zod.def.checks;
  return checks?.find((check) => check instanceof z.core.$ZodCheckMaxLength)?._zod.def.maximum;
}

/** The name and description of an object's type, or undefined for any other schema. */
export function objectTraitsOf(schema: z.core.$ZodType) {
  const inner = unwrapSchema(schema);
  return inner instanceof z.ZodObject ? objectTraits.get(inner) : undefined;
}

/** What a field holds that is neither object nor list. `Int` has 32 bits, `JSON` may be anything. */
export type Scalar = 'Int64' | 'Int' | 'Float' | 'String' | 'Boolean' | NonNullable<FieldTraits['scalar']>;

/** The scalar of a field. Throws for a type that the table has not had so far. */
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
      throw new Error(`The faces have no type yet for a field of kind ${inner._zod.def.type}.`);
  }
}
