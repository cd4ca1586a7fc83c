import {
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  typeFromAST,
  valueFromAST,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLList,
  type GraphQLNonNull,
  type GraphQLSchema,
  type VariableDefinitionNode,
} from 'graphql';
import { isIterableObject } from './guards.js';

/** Coerces the variables of an operation; undefined when one of them is not valid. */
export type CoerceVariables = (values: Readonly<Record<string, unknown>>) => Record<string, unknown> | undefined;

/** Coerces an input value; undefined when it is not valid. */
type Coerce = (value: unknown) => unknown;

/**
 * Coerces variables as graphql-js does, but keeps the order of the members of an input object, and does not report why a
 * value is not valid: preparing those reports takes most of graphql-js's time. For a request with invalid variables,
 * `getVariableValues` of graphql-js creates the errors.
 */
export function compileVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[] = [],
): CoerceVariables {
  const variables = definitions.map(({ variable, type: typeNode, defaultValue }) => {
    const type = typeFromAST(schema, typeNode);
    if (!isInputType(type)) return { name: variable.name.value, coerce: reject, isRequired: true };
    const readDefault = defaultValue && (() => valueFromAST(defaultValue, type));
    return { name: variable.name.value, coerce: coercerOf(type), readDefault, isRequired: isNonNullType(type) };
  });
  return (input) => {
    const values = Object.create(null) as Record<string, unknown>;
    for (const { name, coerce, readDefault, isRequired } of variables) {
      if (Object.hasOwn(input, name)) {
        const value = coerce(input[name]);
        if (value === undefined) return undefined;
        values[name] = value;
      } else if (readDefault) values[name] = readDefault();
      else if (isRequired) return undefined;
    }
    return { ...values };
  };
}

const reject: Coerce = () => undefined;

const coercers = new WeakMap<GraphQLInputType, Coerce>();

/** The coercer of a type, created once. */
function coercerOf(type: GraphQLInputType): Coerce {
  const cached = coercers.get(type);
  if (cached) return cached;
  // A type may contain itself.
  coercers.set(type, (value) => created(value));
  const created = createCoercer(type);
  coercers.set(type, created);
  return created;
}

function createCoercer(type: GraphQLInputType): Coerce {
  if (isNonNullType(type)) {
    const coerce = coercerOf((type as GraphQLNonNull<GraphQLInputType>).ofType);
    return (value) => (value == null ? undefined : coerce(value));
  }
  const coerce = isListType(type)
    ? coercerOfList(coercerOf((type as GraphQLList<GraphQLInputType>).ofType))
    : isInputObjectType(type)
      ? coercerOfObject(type)
      : coercerOfLeaf(type);
  return (value) => (value == null ? null : coerce(value));
}

function coercerOfList(coerce: Coerce): Coerce {
  return (value) => {
    const original: readonly unknown[] = Array.isArray(value)
      ? (value as unknown[])
      : isIterableObject(value)
        ? [...value]
        : [value];
    let items = original as unknown[];
    for (let index = 0; index < original.length; index += 1) {
      const coerced = coerce(original[index]);
      if (coerced === undefined) return undefined;
      if (coerced === original[index]) continue;
      if (items === original) items = [...original];
      items[index] = coerced;
    }
    return items;
  };
}

function coercerOfObject(type: GraphQLInputObjectType): Coerce {
  const fields = Object.values(type.getFields()).map(({ name, type: fieldType, defaultValue }) => ({
    name,
    coerce: coercerOf(fieldType),
    defaultValue,
    isRequired: isNonNullType(fieldType) && defaultValue === undefined,
  }));
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const original = value as Readonly<Record<string, unknown>>;
    let record = original as Record<string, unknown>;
    let knownCount = 0;
    for (const { name, coerce, defaultValue, isRequired } of fields) {
      const member = original[name];
      if (member === undefined && isRequired) return undefined;
      const coerced = member === undefined ? defaultValue : coerce(member);
      if (member !== undefined) {
        if (coerced === undefined) return undefined;
        knownCount += 1;
      }
      if (coerced === member) continue;
      // Most objects need no change. V8 copies an object that was read from JSON faster than it builds another.
      if (record === original) record = { ...original };
      record[name] = coerced;
    }
    // It has a member that is unknown, or undefined, which JSON does not have.
    if (Object.keys(original).length !== knownCount) return undefined;
    return type.isOneOf && !isOne(Object.values(record)) ? undefined : record;
  };
}

function coercerOfLeaf(type: { readonly parseValue: Coerce }): Coerce {
  return (value) => {
    try {
      return type.parseValue(value);
    } catch {
      return undefined;
    }
  };
}

function isOne(members: readonly unknown[]): boolean {
  return members.length === 1 && members[0] !== null;
}
