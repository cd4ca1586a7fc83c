import type { z } from 'zod';
import { KeyDefinition } from './definition.js';
import type { Definition } from './normal-form.js';
import { core, memberOf, shapeOf } from './table.js';

/**
 * A definition out of the JSON it was stored as. JSON does not tell a 64-bit integer from another number; the table
 * does. Rules are not asked again: a key stays readable when a later version gets stricter.
 */
export function definitionFromJSON(json: unknown): Definition {
  return withIntegers(KeyDefinition, json) as Definition;
}

function withIntegers(schema: z.core.$ZodType, value: unknown): unknown {
  const shape = shapeOf(schema);
  if (shape && typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        const field = shape[name];
        return [name, field ? withIntegers(field, member) : member];
      }),
    );
  }
  const member = memberOf(schema);
  if (member && Array.isArray(value)) return value.map((item) => withIntegers(member, item));
  return core(schema)._zod.def.type === 'bigint' && typeof value === 'number' ? BigInt(value) : value;
}
