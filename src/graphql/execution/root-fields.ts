import {
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

/** A root field that an operation selects. */
export interface SelectedRootField {
  readonly node: FieldNode;
  readonly field: GraphQLField<unknown, unknown>;
}

/** The root fields that an operation selects, also in fragments. */
export function rootFieldsOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): readonly SelectedRootField[] {
  const root = schema.getRootType(operation.operation);
  const nodes = nodesIn(fragmentsOf(document), operation.selectionSet);
  // Selections with the same response name have the same field and arguments.
  const distinct = new Map(nodes.map((node) => [(node.alias ?? node.name).value, node])).values();
  return [...distinct].flatMap((node) => {
    const field = root?.getFields()[node.name.value];
    return field ? [{ node, field }] : [];
  });
}

/** @throws {AppError} UNAUTHENTICATED, RATE_LIMITED or UNAVAILABLE without a credential that a root field requires. */
export function requirePrincipals(fields: readonly SelectedRootField[], auth: AuthContext): void {
  for (const { field } of fields) {
    if (field.extensions.credential) requirePrincipal(auth, field.extensions.credential);
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
