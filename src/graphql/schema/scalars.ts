import { GraphQLError, GraphQLID, Kind } from 'graphql';
import { integerOf, isInt64 } from '../../lib/int64.js';
import { builder } from './builder.js';
import { valueOfLiteral } from './literals.js';

/** An integer of 64 bits from a number or decimal text; undefined for anything else. */
function readInt64(value: unknown): bigint | undefined {
  const integer = typeof value === 'string' && /^-?\d{1,19}$/.test(value) ? BigInt(value) : integerOf(value);
  return integer !== undefined && isInt64(integer) ? integer : undefined;
}

function parseInt64(value: unknown): bigint {
  const integer = readInt64(value);
  // The value itself is left out: whatever was sent here by mistake may be a secret.
  if (integer === undefined)
    throw new GraphQLError('Int64 cannot represent this value: an integer of 64 bits is needed.');
  return integer;
}

/**
 * GraphQL's own reader turns a number beyond 2^53-1 into text after it was rounded, and so names another key. Pothos
 * builds every schema with this one ID, so that its reader is replaced in place.
 */
GraphQLID.parseValue = (value) => {
  if (typeof value === 'string' || Number.isSafeInteger(value)) return String(value);
  const message = isNumeric(value) ? 'ID cannot represent a number beyond 2^53-1 exactly' : 'ID cannot represent value';
  throw new GraphQLError(`${message}; send the identifier as a string.`);
};

const isNumeric = (value: unknown) => typeof value === 'bigint' || Number.isInteger(value);

builder.scalarType('Int64', {
  // No specification is referred to: there is none that answers numbers as far as they are exact, and digits beyond.
  description:
    'A signed integer of 64 bits, exact over its whole range. Takes an integer or a decimal string. Answers a JSON number up to 2^53-1 in size and a decimal string beyond. Example: 1893456000.',
  parseValue: parseInt64,
  parseLiteral: (node) =>
    parseInt64(
      node.kind === Kind.INT || node.kind === Kind.FLOAT || node.kind === Kind.STRING
        ? valueOfLiteral(node)
        : undefined,
    ),
  serialize: (value) => exactly(value),
});

builder.scalarType('DateTime', {
  description:
    'A date and time with an offset, as in RFC 3339, with T and Z in capitals and without leap seconds. Answered in UTC. Example: 2026-01-31T12:00:00Z.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  parseValue: (value) => {
    if (typeof value !== 'string') throw new GraphQLError('DateTime cannot represent this value: a string is needed.');
    return value;
  },
  serialize: (value) => value,
});

builder.scalarType('JSON', {
  description: 'Any JSON value. Integers beyond 2^53-1 in size are answered as decimal strings.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  parseValue: (value) => value,
  parseLiteral: (node, variables) => valueOfLiteral(node, variables ?? {}),
  serialize: jsonSafe,
});

builder.scalarType('JSONObject', {
  description: 'Any JSON object. Integers beyond 2^53-1 in size are answered as decimal strings.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259#section-4',
  parseValue: (value) => value,
  parseLiteral: (node, variables) => valueOfLiteral(node, variables ?? {}),
  serialize: jsonSafe,
});

function exactly(value: bigint): number | string {
  const asNumber = Number(value);
  return Number.isSafeInteger(asNumber) ? asNumber : String(value);
}

/** Whether JSON has all of a value as it is, without an integer that readers would round. */
function isSafe(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) || !Number.isInteger(value);
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint';
  return Array.isArray(value) ? value.every(isSafe) : Object.values(value).every(isSafe);
}

/** A response shows the same object in many places: in each item of a bulk change, for example. */
const safeObjects = new WeakSet<object>();

function jsonSafe(value: unknown): unknown {
  const object = typeof value === 'object' && value !== null ? value : undefined;
  if (object && safeObjects.has(object)) return value;
  if (isSafe(value)) {
    if (object) safeObjects.add(object);
    return value;
  }
  if (typeof value === 'bigint') return exactly(value);
  if (typeof value === 'number') return exactly(BigInt(value));
  if (Array.isArray(value)) return value.map(jsonSafe);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, jsonSafe(member)]));
}
