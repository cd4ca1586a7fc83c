import {
  getOperationAST,
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { requirePrincipal, type AuthContext } from '../../credentials/credential.js';
import { parseWithLimits } from './limits.js';

/** An operation as it was sent. */
export interface RequestedOperation {
  readonly query?: string | undefined;
  /** The parsed `query`, when it has been parsed. */
  readonly document?: DocumentNode | undefined;
  readonly operationName?: string | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
}

/** The root fields of an operation. */
export interface RootFields {
  readonly document: DocumentNode;
  readonly definition: OperationDefinitionNode;
  readonly fields: readonly { readonly node: FieldNode; readonly field: GraphQLField<unknown, unknown> }[];
}

/** The root fields that an operation selects, also in fragments; undefined when it cannot be parsed within the limits. */
export function rootFieldsOf(schema: GraphQLSchema, operation: RequestedOperation): RootFields | undefined {
  const document = operation.document ?? tryParse(operation.query);
  const definition = document && getOperationAST(document, operation.operationName);
  if (!document || !definition) return undefined;

  const root = schema.getRootType(definition.operation);
  const nodes = nodesIn(fragmentsOf(document), definition.selectionSet);
  // Selections with the same response name have the same field and arguments.
  const distinct = new Map(nodes.map((node) => [(node.alias ?? node.name).value, node])).values();
  const fields = [...distinct].flatMap((node) => {
    const field = root?.getFields()[node.name.value];
    return field ? [{ node, field }] : [];
  });
  return { document, definition, fields };
}

/** @throws {AppError} UNAUTHENTICATED, RATE_LIMITED or UNAVAILABLE without a credential that a root field requires. */
export function requirePrincipals({ fields }: Pick<RootFields, 'fields'>, auth: AuthContext): void {
  for (const { field } of fields) {
    if (field.extensions.credential) requirePrincipal(auth, field.extensions.credential);
  }
}

function tryParse(query: string | undefined): DocumentNode | undefined {
  try {
    return parseWithLimits(query ?? '', { noLocation: true });
  } catch {
    return undefined;
  }
}

function fragmentsOf({ definitions }: DocumentNode): Map<string, FragmentDefinitionNode> {
  return new Map(
    definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [])),
  );
}

/** Returns the selected fields. The fields of a fragment occur once, even if it is spread repeatedly. */
function nodesIn(
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  { selections }: SelectionSetNode,
  visited = new Set<string>(),
): FieldNode[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection];
    if (selection.kind === Kind.INLINE_FRAGMENT) return nodesIn(fragments, selection.selectionSet, visited);
    const name = selection.name.value;
    if (visited.has(name)) return [];
    visited.add(name);
    const fragment = fragments.get(name);
    return fragment ? nodesIn(fragments, fragment.selectionSet, visited) : [];
  });
}
