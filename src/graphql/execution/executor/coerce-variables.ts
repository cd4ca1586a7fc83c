import {
  coerceInputLiteral,
  coerceInputValue,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  typeFromAST,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
  type VariableDefinitionNode,
  type VariableValues,
} from 'graphql';

/** Coerces the variables of an operation; undefined when one of them is not valid. */
export type CoerceVariables = (values: Readonly<Record<string, unknown>>) => VariableValues | undefined;

/** Coerces an input value; undefined when it is not valid. */
type Coerce = (value: unknown) => unknown;

/**
 * Coerces variables as graphql-js does, but keeps the order of the members of an input object and copies only what
 * changes. Does not report why a value is not valid: for a request with invalid variables, `getVariableValues` of
 * graphql-js creates the errors.
 */
export function compileVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[] = [],
): CoerceVariables {
  const variables = definitions.flatMap(({ variable, type: typeNode, defaultValue: literal }) => {
    const type = typeFromAST(schema, typeNode);
    const name = variable.name.value;
    return isInputType(type)
      ? { signature: { name, type, default: literal && { literal } }, coerce: coercerOf(type), literal }
      : [];
  });
  if (variables.length < definitions.length) return () => undefined;
  return (input) => {
    const sources = Object.create(null) as Record<string, VariableValues['sources'][string]>;
    const coerced = Object.create(null) as Record<string, unknown>;
    for (const { signature, coerce, literal } of variables) {
      const { name, type } = signature;
      const value = Object.hasOwn(input, name) ? input[name] : undefined;
      sources[name] = value === undefined ? { signature } : { signature, value };
      if (value === undefined && !literal && !isNonNullType(type)) continue;
      const result = value === undefined && literal ? coerceInputLiteral(literal, type) : coerce(value);
      if (result === undefined) return undefined;
      coerced[name] = result;
    }
    return { sources, coerced };
  };
}

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
    const coerce = coercerOf(type.ofType);
    return (value) => (value == null ? undefined : coerce(value));
  }
  const coerce = isListType(type)
    ? coercerOfList(coercerOf(type.ofType))
    : isInputObjectType(type)
      ? coercerOfObject(type)
      : coercerOfLeaf(type);
  return (value) => (value == null ? null : coerce(value));
}

function coercerOfList(coerce: Coerce): Coerce {
  return (value) => {
    const original: readonly unknown[] = Array.isArray(value) ? (value as unknown[]) : [value];
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
  const fields = Object.values(type.getFields()).map((field) => ({
    name: field.name,
    coerce: coercerOf(field.type),
    isRequired: isRequiredInputField(field),
    readDefault: defaultOf(field),
  }));
  return (value) => {
    if (typeof value !== 'object' || Array.isArray(value)) return undefined;
    const original = value as Readonly<Record<string, unknown>>;
    let record = original as Record<string, unknown>;
    let knownCount = 0;
    for (const { name, coerce, isRequired, readDefault } of fields) {
      const member = original[name];
      if (member === undefined && isRequired) return undefined;
      const coerced = member === undefined ? readDefault() : coerce(member);
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

/** Reads the default value of a field, which is coerced when it is first needed: its type may contain itself. */
function defaultOf({ type, default: input, defaultValue }: GraphQLInputField): () => unknown {
  let coerced = defaultValue;
  return () => {
    if (coerced === undefined && input) {
      coerced = input.literal ? coerceInputLiteral(input.literal, type) : coerceInputValue(input.value, type);
    }
    return coerced;
  };
}

function coercerOfLeaf(type: { readonly coerceInputValue: Coerce }): Coerce {
  return (value) => {
    try {
      return type.coerceInputValue(value);
    } catch {
      return undefined;
    }
  };
}

function isOne(members: readonly unknown[]): boolean {
  return members.length === 1 && members[0] !== null;
}
