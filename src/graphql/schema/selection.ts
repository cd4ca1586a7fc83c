import { Kind, type FieldNode, type GraphQLResolveInfo, type SelectionSetNode } from 'graphql';

/** The fields that an operation selects of the value of a resolver, also in fragments. */
export function selectedFields({ fieldNodes, fragments }: GraphQLResolveInfo): FieldNode[] {
  return fieldNodes.flatMap((node) => fieldsIn(node.selectionSet, fragments));
}

/** The fields of a selection set, also in fragments. */
export function fieldsIn(
  set: SelectionSetNode | undefined,
  fragments: GraphQLResolveInfo['fragments'],
): readonly FieldNode[] {
  return (set?.selections ?? []).flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return selection;
    if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsIn(selection.selectionSet, fragments);
    return fieldsIn(fragments[selection.name.value]?.selectionSet, fragments);
  });
}
