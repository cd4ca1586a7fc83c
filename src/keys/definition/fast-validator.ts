import type * as z from 'zod';
import { compileFn, INVALID as zodInvalid, safeParse } from 'zod/v4/core';

/** Returns the parsed value, or `INVALID` for one that zod rejects. */
export type FastValidator = (value: unknown) => unknown;

/** The result of a fast validator for an invalid value. */
export const INVALID: unique symbol = Symbol('INVALID');

/**
 * Returns a validator that reports no issues, from the code that zod generates for the schema (`z.compile` without its
 * fallback, which would collect issues without a limit). The code is generated on the first call. If that is forbidden, or
 * the schema has a feature that zod cannot compile, the validator runs zod itself.
 */
export function fastValidatorOf<T>(schema: z.core.$ZodType<T>): FastValidator {
  let validate: FastValidator | undefined;
  return (value) => (validate ??= compiled(schema) ?? interpreted(schema))(value);
}

function compiled(schema: z.core.$ZodType): FastValidator | undefined {
  try {
    const parse = compileFn(schema);
    return (value) => {
      const parsed = parse(value);
      return parsed === zodInvalid ? INVALID : parsed;
    };
  } catch {
    return undefined;
  }
}

function interpreted(schema: z.core.$ZodType): FastValidator {
  return (value) => {
    const result = safeParse(schema, value);
    return result.success ? result.data : INVALID;
  };
}
