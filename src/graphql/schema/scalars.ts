import {
  GraphQLError,
  GraphQLID,
  GraphQLList,
  GraphQLNonNull,
  GraphQLScalarType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLType,
} from 'graphql';
import { integerOf, isInt64, isJSONSafe } from '../../lib/int64.js';
import { builder } from './builder.js';
import { valueOfLiteral } from './literals.js';

/** Reads a 64-bit integer from a number or a decimal string; undefined for other values. */
function readInt64(value: unknown): bigint | undefined {
  const integer = typeof value === 'string' && /^-?\d{1,19}$/.test(value) ? BigInt(value) : integerOf(value);
  return integer !== undefined && isInt64(integer) ? integer : undefined;
}

function parseInt64(value: unknown): bigint {
  if (!isJSONSafe(value)) throw roundedNumber('Int64');
  const integer = readInt64(value);
  // The value is not quoted: it may be a misplaced secret.
  if (integer === undefined)
    throw new GraphQLError('Int64 cannot represent this value; send a 64-bit integer as a number or a decimal string.');
  return integer;
}

/** graphql-js converts a number beyond 2^53-1 to a string after it was rounded, which identifies another key. */
const exactID = new GraphQLScalarType({
  ...GraphQLID.toConfig(),
  coerceInputValue: (value) => {
    if (typeof value === 'string' || Number.isSafeInteger(value)) return String(value);
    const message = isNumeric(value)
      ? 'ID cannot represent a number beyond 2^53-1 exactly'
      : 'ID cannot represent value';
    throw new GraphQLError(`${message}; send the identifier as a string.`);
  },
});

const isNumeric = (value: unknown) => typeof value === 'bigint' || Number.isInteger(value);

/**
 * Replaces the ID type of graphql-js in a new schema of the builder, for which Pothos takes no other. Returns the types to
 * build the schema from: graphql-js rejects them if one of them still refers to the other ID type.
 */
export function withExactIDs(types: readonly GraphQLNamedType[]): GraphQLNamedType[] {
  for (const type of types) {
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue;
    const fields: Readonly<Record<string, GraphQLField<unknown, unknown> | GraphQLInputField>> = type.getFields();
    for (const field of Object.values(fields)) {
      field.type = exact(field.type);
      for (const argument of 'args' in field ? field.args : []) argument.type = exact(argument.type);
    }
  }
  return types.map(exact);
}

function exact<Type extends GraphQLType>(type: Type): Type {
  if (isListType(type)) return new GraphQLList(exact(type.ofType)) as unknown as Type;
  if (isNonNullType(type)) return new GraphQLNonNull(exact(type.ofType)) as unknown as Type;
  return (type === GraphQLID ? exactID : type) as Type;
}

builder.scalarType('Int64', {
  // I-JSON (RFC 7493) recommends decimal strings for integers beyond 2^53-1.
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc7493#section-2.2',
  description:
    'A signed 64-bit integer, exact over its whole range: a JSON number up to 2^53-1 in magnitude, a decimal string beyond, in input and output. Input may be a decimal string over the whole range; a number beyond 2^53-1 is rejected, because gateways round it. Example: 1893456000.',
  parseValue: parseInt64,
  parseLiteral: (node) =>
    parseInt64(
      node.kind === Kind.INT || node.kind === Kind.FLOAT || node.kind === Kind.STRING
        ? valueOfLiteral(node)
        : undefined,
    ),
  serialize: (value) => toJSONInteger(value),
});

builder.scalarType('KeyDateTime', {
  description:
    'A date and time with an offset in the format of RFC 3339, with T and Z in upper case and without leap seconds. Returned in UTC. Example: 2026-01-31T12:00:00Z.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  parseValue: (value) => {
    if (typeof value !== 'string') throw new GraphQLError('KeyDateTime cannot represent this value; send a string.');
    return value;
  },
  serialize: (value) => value,
});

/** The first second of the year 0 and the last of 9999: RFC 3339 has four digits for the year. */
const [firstSecond, lastSecond] = [-62_167_219_200n, 253_402_300_799n];

/** These Unix seconds as a KeyDateTime; undefined for a year that it cannot express. */
export function dateTimeOf(seconds: bigint): string | undefined {
  return seconds < firstSecond || seconds > lastSecond ? undefined : new Date(Number(seconds) * 1000).toISOString();
}

builder.scalarType('JSON', {
  description:
    'Any JSON value. Integers beyond 2^53-1 in magnitude are returned as decimal strings; numbers beyond it are rejected in input, because gateways round them.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  parseValue: parseExactJSON,
  parseLiteral: (node, variables) => parseExactJSON(valueOfLiteral(node, variables ?? {})),
  serialize: toJSONSafe,
});

builder.scalarType('JSONObject', {
  description:
    'Any JSON object. Integers beyond 2^53-1 in magnitude are returned as decimal strings; numbers beyond it are rejected in input, because gateways round them.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259#section-4',
  parseValue: parseExactJSON,
  parseLiteral: (node, variables) => parseExactJSON(valueOfLiteral(node, variables ?? {})),
  serialize: toJSONSafe,
});

function parseExactJSON(value: unknown): unknown {
  if (isJSONSafe(value)) return value;
  throw roundedNumber('JSON');
}

/** Gateways written in JavaScript round such a number before it arrives, so it may differ from the number sent. */
function roundedNumber(scalar: string): GraphQLError {
  return new GraphQLError(`${scalar} cannot represent a number beyond 2^53-1 exactly; send it as a decimal string.`);
}

function toJSONInteger(value: bigint): number | string {
  const asNumber = Number(value);
  return Number.isSafeInteger(asNumber) ? asNumber : String(value);
}

/** Objects known to be safe: a response may contain one repeatedly, as in each item of a bulk change. */
const safeObjects = new WeakSet<object>();

function toJSONSafe(value: unknown): unknown {
  const object = typeof value === 'object' && value !== null ? value : undefined;
  if (object && safeObjects.has(object)) return value;
  if (isJSONSafe(value)) {
    if (object) safeObjects.add(object);
    return value;
  }
  if (typeof value === 'bigint') return toJSONInteger(value);
  if (typeof value === 'number') return toJSONInteger(BigInt(value));
  if (Array.isArray(value)) return value.map(toJSONSafe);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toJSONSafe(member)]));
}
