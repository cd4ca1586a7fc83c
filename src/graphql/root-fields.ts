import {
  getOperationAST,
  Kind,
  parse,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

/** An operation as it was sent, before GraphQL has looked at it. */
export interface RequestedOperation {
  readonly query?: string | undefined;
  readonly operationName?: string | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
}

interface RootFields {
  readonly definition: OperationDefinitionNode;
  readonly fields: readonly { readonly node: FieldNode; readonly field: GraphQLField<unknown, unknown> }[];
}

/** The root fields that an operation asks for, fragments included; undefined where it cannot be parsed. */
export function rootFieldsOf(schema: GraphQLSchema, operation: RequestedOperation): RootFields | undefined {
  const document = parsed(operation.query);
  const definition = document && getOperationAST(document, operation.operationName);
  if (!document || !definition) return undefined;

  const root = schema.getRootType(definition.operation);
  const fields = nodesIn(document, definition.selectionSet).flatMap((node) => {
    const field = root?.getFields()[node.name.value];
    return field ? [{ node, field }] : [];
  });
  return { definition, fields };
}

function parsed(query: string | undefined): DocumentNode | undefined {
  try {
    return parse(query ?? '', { noLocation: true, maxTokens: 20_000 });
  } catch {
    return undefined;
  }
}

function nodesIn(document: DocumentNode, { selections }: SelectionSetNode, depth = 0): FieldNode[] {
  if (depth > 8) return [];
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection];
    if (selection.kind === Kind.INLINE_FRAGMENT) return nodesIn(document, selection.selectionSet, depth + 1);
    const fragment = document.definitions.find(
      (definition) => definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === selection.name.value,
    );
    return fragment?.kind === Kind.FRAGMENT_DEFINITION ? nodesIn(document, fragment.selectionSet, depth + 1) : [];
  });
}
