import { z } from 'zod';
import type { Path } from '../errors.js';

/** What a field holds once "may be left out", "may be null" and reading rules are taken off. */
export function core(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return core(schema.def.innerType);
  if (schema instanceof z.ZodPipe) return core(schema.def.out);
  return schema;
}

/** The fields of an object schema, or undefined for any other. */
export function shapeOf(schema: z.core.$ZodType): z.core.$ZodShape | undefined {
  const inner = core(schema);
  return inner instanceof z.ZodObject ? inner.def.shape : undefined;
}

/** The schema of a list's members, or undefined where the schema is no list. */
export function memberOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const inner = core(schema);
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
