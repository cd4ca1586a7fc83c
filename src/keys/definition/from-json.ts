import type { z } from 'zod';
import { KeyDefinition } from './schema.js';
import type { Definition } from './normalize.js';
import { createObjectFactory, type CreateObject } from './object-shapes.js';
import { unwrapSchema, memberOf, shapeOf } from './introspection.js';

/**
 * A definition out of the JSON it was stored as. JSON does not tell a 64-bit integer from another number; the table
 * does. Rules are not asked again: a key stays readable when a later version gets stricter.
 */
export function definitionFromJSON(json: unknown): Definition {
  return withIntegers(KeyDefinition, json) as Definition;
}

type Read = (value: unknown) => unknown;

const readers = new WeakMap<z.core.$ZodType, Read>();

function withIntegers(schema: z.core.$ZodType, value: unknown): unknown {
  return readerOf(schema)(value);
}

function readerOf(schema: z.core.$ZodType): Read {
  const known = readers.get(schema);
  if (known) return known;
  const made = createReader(schema);
  readers.set(schema, made);
  return made;
}

/** Asks the table once what it knows of a schema. */
function createReader(schema: z.core.$ZodType): Read {
  const shape = shapeOf(schema);
  const member = memberOf(schema);
  const read = shape ? readerOfMembers(shape) : member && readerOfItems(readerOf(member));
  if (read) return (value) => (typeof value === 'object' && value !== null ? read(value) : value);
  if (unwrapSchema(schema)._zod.def.type !== 'bigint') return asItIs;
  return (value) => (typeof value === 'number' ? BigInt(value) : value);
}

const asItIs: Read = (value) => value;

function readerOfItems(read: Read): Read {
  return (value) => (Array.isArray(value) ? value.map(read) : value);
}

/** How many combinations of names are remembered, of which the order counts: what is written again must be the same. */
const mostOrders = 64;

function readerOfMembers(shape: z.core.$ZodShape): Read {
  const fields = new Map(Object.entries(shape).map(([name, inner]) => [name, readerOf(inner)]));
  const makers = new Map<string, CreateObject>();
  return (value) => {
    const names = Object.keys(value as object);
    const order = names.join();
    let make = makers.get(order);
    if (!make) {
      make = createObjectFactory(names);
      if (makers.size < mostOrders) makers.set(order, make);
    }
    const given = Object.values(value as object) as unknown[];
    return make(given.map((member, index) => (fields.get(names[index] ?? '') ?? asItIs)(member)));
  };
}
