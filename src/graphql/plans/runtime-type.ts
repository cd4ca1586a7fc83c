import {
  defaultTypeResolver,
  GraphQLError,
  isObjectType,
  type GraphQLAbstractType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLTypeResolver,
} from 'graphql';
import { inspect } from 'graphql/jsutils/inspect.js';

/** What finds the name of the type that a value of an interface or a union has. */
export function typeResolverOf(type: GraphQLAbstractType): GraphQLTypeResolver<unknown, unknown> {
  return type.resolveType ?? defaultTypeResolver;
}

/** The object type that a value turned out to have. Throws a GraphQLError, in graphql-js's words, where it cannot be that. */
export function requireObjectType(
  type: GraphQLAbstractType,
  name: unknown,
  value: unknown,
  { schema, parentType, fieldName, fieldNodes: nodes }: GraphQLResolveInfo,
): GraphQLObjectType {
  const must = `Abstract type "${type.name}" must resolve to an Object type at runtime for field "${parentType.name}.${fieldName}"`;
  if (name == null) {
    const either = `Either the "${type.name}" type should provide a "resolveType" function or each possible type should provide an "isTypeOf" function.`;
    throw new GraphQLError(`${must}. ${either}`, { nodes });
  }
  if (isObjectType(name)) {
    throw new GraphQLError(
      'Support for returning GraphQLObjectType from resolveType was removed in graphql-js@16.0.0 please return type name instead.',
    );
  }
  if (typeof name !== 'string') {
    throw new GraphQLError(`${must} with value ${inspect(value)}, received "${inspect(name)}".`);
  }
  const found = schema.getType(name);
  if (!found) {
    const message = `Abstract type "${type.name}" was resolved to a type "${name}" that does not exist inside the schema.`;
    throw new GraphQLError(message, { nodes });
  }
  if (!isObjectType(found)) {
    throw new GraphQLError(`Abstract type "${type.name}" was resolved to a non-object type "${name}".`, { nodes });
  }
  if (!schema.isSubType(type, found)) {
    throw new GraphQLError(`Runtime Object type "${name}" is not a possible type for "${type.name}".`, { nodes });
  }
  return found;
}
