import type * as z from 'zod';
import { KeyDefinition } from './schema.js';
import type { Definition } from './normalize.js';
import { createObjectFactory, type CreateObject } from './object-shapes.js';
import { unwrapSchema, memberOf, shapeOf } from './introspection.js';

/**
 * Reads a definition from its stored JSON. JSON has one number type: the schema determines which numbers are 64-bit
 * integers. Rules are not checked again, so that keys stay readable when a later version is stricter.
 */
export function definitionFromJSON(json: unknown): Definition {
  return readDefinition(json) as Definition;
}

type ReadValue = (value: unknown) => unknown;

const unchanged: ReadValue = (value) => value;

/** Maximum number of cached member orders. The order of members is kept, so that writing the definition again is lossless. */
const maxMemberOrders = 64;

const readDefinition = createJSONReader(KeyDefinition);

/** Creates the reader of a schema, so that the schema is inspected once. */
export function createJSONReader(schema: z.core.$ZodType): ReadValue {
  const shape = shapeOf(schema);
  const member = memberOf(schema);
  const read = shape ? readerOfMembers(shape) : member && readerOfItems(createJSONReader(member));
  if (read) return (value) => (typeof value === 'object' && value !== null ? read(value) : value);
  if (unwrapSchema(schema)._zod.def.type !== 'bigint') return unchanged;
  return (value) => (typeof value === 'number' || isDecimal(value) ? BigInt(value) : value);
}

/** Whether a value is an integer in decimal: GraphQL returns integers beyond 2^53-1 as text. */
function isDecimal(value: unknown): value is string {
  return typeof value === 'string' && /^-?\d+$/.test(value);
}

function readerOfItems(read: ReadValue): ReadValue {
  return (value) => (Array.isArray(value) ? value.map(read) : value);
}

function readerOfMembers(shape: z.core.$ZodShape): ReadValue {
  const fields = new Map(Object.entries(shape).map(([name, inner]) => [name, createJSONReader(inner)]));
  const factories = new Map<string, CreateObject>();
  return (value) => {
    const names = Object.keys(value as object);
    const order = names.join();
    let createObject = factories.get(order);
    if (!createObject) {
      createObject = createObjectFactory(names);
      if (factories.size < maxMemberOrders) factories.set(order, createObject);
    }
    const values = Object.values(value as object) as unknown[];
    return createObject(values.map((member, index) => (fields.get(names[index] ?? '') ?? unchanged)(member)));
  };
}
