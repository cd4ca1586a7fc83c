import type { z } from 'zod';
import { maxIssues } from './problem.js';
import { quickReadOf, refused, type QuickRead } from './quick-read.js';
import { memberOf, shapeOf } from './table.js';

/**
 * The value without the invalid parts that follow the first `maxIssues` + 1, so that validation takes no time for issues
 * that no response lists. Valid parts stay.
 */
export function withoutExcess(schema: z.core.$ZodType, value: unknown): unknown {
  let left = maxIssues + 1;

  function visit(at: z.core.$ZodType, part: unknown): unknown {
    const shape = shapeOf(at);
    if (shape && typeof part === 'object' && part !== null && !Array.isArray(part)) {
      const members = Object.entries(part).flatMap(([name, member]: [string, unknown]) =>
        kept(Object.hasOwn(shape, name) ? shape[name] : undefined, member).map((found) => [name, found] as const),
      );
      return Object.fromEntries(members);
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

const quickReads = new WeakMap<z.core.$ZodType, QuickRead>();

function isValid(schema: z.core.$ZodType, value: unknown): boolean {
  const known = quickReads.get(schema);
  const read = known ?? quickReadOf(schema);
  if (!known) quickReads.set(schema, read);
  return read(value) !== refused;
}
