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
import { createRecordMaker } from '../../keys/records.js';

/** Reads the variables of an operation; undefined where any is refused. */
export type ReadVariables = (given: Readonly<Record<string, unknown>>) => Record<string, unknown> | undefined;

/** What a value is read as; undefined where it is refused. */
type Read = (value: unknown) => unknown;

/**
 * Reads variables as graphql-js does, but does not say why it refuses one. To be ready to say so is what takes graphql-js
 * most of its time, so that it is asked for the reason when there is need of one.
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

/** The reader of a type. It is made when it is first used, because a type may contain itself. */
function readerOf(type: GraphQLInputType): Read {
  const known = readers.get(type);
  if (known) return known;
  let made: Read | undefined;
  const read: Read = (value) => (made ??= makeReader(type))(value);
  readers.set(type, read);
  return read;
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
    const items: unknown[] = [];
    for (const item of isIterable(value) ? value : [value]) {
      const found = read(item);
      if (found === undefined) return undefined;
      items.push(found);
    }
    return items;
  };
}

function readerOfMembers(type: GraphQLInputObjectType): Read {
  const byName = type.getFields();
  const fields = Object.values(byName).map(({ name, type: fieldType, defaultValue }) => ({
    name,
    read: readerOf(fieldType),
    defaultValue: defaultValue,
    isRequired: isNonNullType(fieldType) && defaultValue === undefined,
  }));
  const make = createRecordMaker(fields.map(({ name }) => name));
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const given = value as Readonly<Record<string, unknown>>;
    const members: unknown[] = [];
    let known = 0;
    for (const { name, read, defaultValue, isRequired } of fields) {
      const member = given[name];
      if (member !== undefined) {
        const found = read(member);
        if (found === undefined) return undefined;
        members.push(found);
        known += 1;
      } else if (isRequired) return undefined;
      else members.push(defaultValue);
    }
    const names = Object.keys(given);
    if (names.length !== known && names.some((name) => !byName[name])) return undefined;
    const record = make(members);
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

function isIterable(value: unknown): value is Iterable<unknown> {
  return (
    typeof value === 'object' && typeof (value as Partial<Iterable<unknown>> | null)?.[Symbol.iterator] === 'function'
  );
}
