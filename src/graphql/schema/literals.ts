import { GraphQLError, GraphQLFloat, getNamedType, Kind, type ValidationRule, type ValueNode } from 'graphql';
import { AppError } from '../../lib/errors.js';
import { parseJSON } from '../../lib/json.js';

/**
 * The value that a GraphQL literal stands for, its integers exact. A missing variable is undefined. Throws INVALID for a
 * number that cannot be kept, with its place in the literal.
 */
export function valueOfLiteral(node: ValueNode, variables: Readonly<Record<string, unknown>> = {}): unknown {
  switch (node.kind) {
    case Kind.INT:
    case Kind.FLOAT:
      // GraphQL writes numbers as JSON does, and only the JSON reader keeps all their digits.
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

function withPathSegment<T>(segment: string | number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const issues = error.issues.map((issue) => ({ ...issue, path: [segment, ...issue.path] }));
    throw new AppError(error.code, error.message, { issues, cause: error });
  }
}

/** Refuses a literal that GraphQL's own Float would round, as the same number is refused in variables and in REST. */
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
