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
import { isIterable } from './run.js';

/** Reads the variables of an operation; undefined where any is refused. */
export type ReadVariables = (given: Readonly<Record<string, unknown>>) => Record<string, unknown> | undefined;

/** What a value is read as; undefined where it is refused. */
type Read = (value: unknown) => unknown;

/**
 * Reads variables as graphql-js does, but leaves the members of an input in their order, and does not say why it refuses
 * one. To be ready to say so is what takes graphql-js most of its time, so that it is asked for the reason when there is
 * need of one.
 */
export function planVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[] = [],
): ReadVariables {
  const variables = definitions.map(({ variable, type: typeNode, defaultValue }) => {
    const type = typeFromAST(schema, typeNode);
    if (!isInputType(type)) return { name: variable.name.value, read: refuse, isRequired: true };
    const readDefault = defaultValue && (() => valueFromAST(defaultValue, type));
    return { name: variable.name.value, read: readerOf(type), readDefault, isRequired: isNonNullType(type) };
  });
  return (given) => {
    const values = Object.create(null) as Record<string, unknown>;
    for (const { name, read, readDefault, isRequired } of variables) {
      if (Object.hasOwn(given, name)) {
        const value = read(given[name]);
        if (value === undefined) return undefined;
        values[name] = value;
      } else if (readDefault) values[name] = readDefault();
      else if (isRequired) return undefined;
    }
    return { ...values };
  };
}

const refuse: Read = () => undefined;

const readers = new WeakMap<GraphQLInputType, Read>();

/** The reader of a type, made once. */
function readerOf(type: GraphQLInputType): Read {
  const known = readers.get(type);
  if (known) return known;
  // A type may contain itself.
  readers.set(type, (value) => made(value));
  const made = makeReader(type);
  readers.set(type, made);
  return made;
}

function makeReader(type: GraphQLInputType): Read {
  if (isNonNullType(type)) {
    const read = readerOf((type as GraphQLNonNull<GraphQLInputType>).ofType);
    return (value) => (value == null ? undefined : read(value));
  }
  const read = isListType(type)
    ? readerOfItems(readerOf((type as GraphQLList<GraphQLInputType>).ofType))
    : isInputObjectType(type)
      ? readerOfMembers(type)
      : readerOfLeaf(type);
  return (value) => (value == null ? null : read(value));
}

function readerOfItems(read: Read): Read {
  return (value) => {
    const given: readonly unknown[] = Array.isArray(value)
      ? (value as unknown[])
      : isIterable(value)
        ? [...value]
        : [value];
    let items = given as unknown[];
    for (let index = 0; index < given.length; index += 1) {
      const found = read(given[index]);
      if (found === undefined) return undefined;
      if (found === given[index]) continue;
      if (items === given) items = [...given];
      items[index] = found;
    }
    return items;
  };
}

function readerOfMembers(type: GraphQLInputObjectType): Read {
  const fields = Object.values(type.getFields()).map(({ name, type: fieldType, defaultValue }) => ({
    name,
    read: readerOf(fieldType),
    defaultValue: defaultValue,
    isRequired: isNonNullType(fieldType) && defaultValue === undefined,
  }));
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const given = value as Readonly<Record<string, unknown>>;
    let record = given as Record<string, unknown>;
    let known = 0;
    for (const { name, read, defaultValue, isRequired } of fields) {
      const member = given[name];
      if (member === undefined && isRequired) return undefined;
      const found = member === undefined ? defaultValue : read(member);
      if (member !== undefined) {
        if (found === undefined) return undefined;
        known += 1;
      }
      if (found === member) continue;
      // Most objects are read as they are. V8 copies one that was read from JSON faster than it puts another together.
      if (record === given) record = { ...given };
      record[name] = found;
    }
    // There is something else in it: what is unknown, or undefined, which JSON does not know.
    if (Object.keys(given).length !== known) return undefined;
    return type.isOneOf && !isOne(Object.values(record)) ? undefined : record;
  };
}

function readerOfLeaf(type: { readonly parseValue: Read }): Read {
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
