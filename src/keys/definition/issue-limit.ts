import type { z } from 'zod';
import { fastValidatorOf, INVALID, type FastValidator } from './fast-validator.js';
import { maxIssues } from './problem.js';
import { memberOf, shapeOf } from './introspection.js';

/**
 * The value without the invalid parts that follow the first `maxIssues` + 1, so that validation takes no time for issues
 * that no response lists. Valid parts stay.
 */
export function withoutExcess(schema: z.core.$ZodType, value: unknown): unknown {
  let left = maxIssues + 1;

  function visit(at: z.core.$ZodType, part: unknown): unknown {
    const shape = shapeOf(at);
    if (shape && typeof part === 'object' && part !== null && !Array.isArray(part)) {
      return Object.fromEntries(
        inSchemaOrder(shape, part).flatMap(([name, member]) =>
          kept(Object.hasOwn(shape, name) ? shape[name] : undefined, member).map((found) => [name, found] as const),
        ),
      );
    }
    const item = memberOf(at);
    if (item && Array.isArray(part)) return part.flatMap((member: unknown) => kept(item, member));
    left -= 1;
    return part;
  }

  /** The part by itself, or nothing. A part without a schema is unknown, and so invalid. */
  function kept(at: z.core.$ZodType | undefined, part: unknown): unknown[] {
    if (at && isValid(at, part)) return [part];
    if (left <= 0) return [];
    if (at) return [visit(at, part)];
    left -= 1;
    return [part];
  }

  return visit(schema, value);
}

/**
 * The members in the order in which validation reports their issues: the fields of the schema, then the unknown ones. In
 * any other order a required field behind the limit would be dropped, and reported as missing in front of it.
 */
function inSchemaOrder(shape: z.core.$ZodShape, part: object): [string, unknown][] {
  const sent = Object.entries(part);
  const known = new Map<string, unknown>(sent.filter(([name]) => Object.hasOwn(shape, name)));
  return [
    ...Object.keys(shape).flatMap((name): [string, unknown][] => (known.has(name) ? [[name, known.get(name)]] : [])),
    ...sent.filter(([name]) => !Object.hasOwn(shape, name)),
  ];
}

const validators = new WeakMap<z.core.$ZodType, FastValidator>();

function isValid(schema: z.core.$ZodType, value: unknown): boolean {
  const known = validators.get(schema);
  const validate = known ?? fastValidatorOf(schema);
  if (!known) validators.set(schema, validate);
  return validate(value) !== INVALID;
}
