import { GraphQLError, GraphQLFloat, getNamedType, Kind, type ValidationRule, type ValueNode } from 'graphql';
import { AppError } from '../../lib/errors.js';
import { parseJSON } from '../../lib/json.js';

/**
 * The value of a GraphQL literal, with exact integers. A missing variable is undefined.
 *
 * @throws {AppError} INVALID, with the path in the literal, for a number that cannot be represented.
 */
export function valueOfLiteral(node: ValueNode, variables: Readonly<Record<string, unknown>> = {}): unknown {
  switch (node.kind) {
    case Kind.INT:
    case Kind.FLOAT:
      // GraphQL numbers have the syntax of JSON numbers, and `parseJSON` keeps all digits.
      return parseJSON(node.value);
    case Kind.STRING:
    case Kind.BOOLEAN:
    case Kind.ENUM:
      return node.value;
    case Kind.NULL:
      return null;
    case Kind.VARIABLE:
      return variables[node.name.value];
    case Kind.LIST:
      return node.values.map((item, index) => withPathSegment(index, () => valueOfLiteral(item, variables)));
    case Kind.OBJECT: {
      const members = node.fields.map(
        ({ name, value }) => [name.value, withPathSegment(name.value, () => valueOfLiteral(value, variables))] as const,
      );
      return Object.fromEntries(members.filter(([, member]) => member !== undefined));
    }
  }
}

/** Calls `read`; the paths of issues that it throws begin with the segment. */
export function withPathSegment<T>(segment: string | number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const issues = error.issues.map((issue) => ({ ...issue, path: [segment, ...issue.path] }));
    throw new AppError(error.code, error.message, { issues, cause: error });
  }
}

/** Rejects a Float literal that would be rounded, as for variables and in REST. */
export const exactFloats: ValidationRule = (context) => {
  const check = (node: ValueNode) => {
    const type = context.getInputType();
    if (!type || getNamedType(type) !== GraphQLFloat || isExact(node)) return;
    context.reportError(new GraphQLError('Float cannot represent this value exactly.', { nodes: node }));
  };
  return { IntValue: check, FloatValue: check };
};

function isExact(node: ValueNode): boolean {
  try {
    return typeof valueOfLiteral(node) === 'number';
  } catch {
    return false;
  }
}
