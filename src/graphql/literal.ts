import { Kind, type ValueNode } from 'graphql';
import { parseJSON } from '../json.js';

/** The value that a GraphQL literal stands for, its integers exact. A missing variable is undefined. */
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
      return node.values.map((item) => valueOfLiteral(item, variables));
    case Kind.OBJECT: {
      const members = node.fields.map(({ name, value }) => [name.value, valueOfLiteral(value, variables)] as const);
      return Object.fromEntries(members.filter(([, member]) => member !== undefined));
    }
  }
}
