import {
  getOperationAST,
  Kind,
  OperationTypeNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { AppError } from '../../lib/errors.js';
import { operationError } from '../errors.js';

/**
 * Rejects `@skip` and `@include` on the root field of a subscription, as the GraphQL specification of September 2025
 * (5.2.4.1) does. graphql-js 16 throws a TypeError when the field is skipped, and cannot validate a condition that is a
 * variable, which is why this is no validation rule.
 */
export const useUnconditionalSubscriptions: Plugin = {
  onValidate({ params, context }) {
    const document = params.documentAST as DocumentNode;
    const { params: sent } = context as { params: { operationName?: string } };
    const operation = getOperationAST(document, sent.operationName);
    if (operation?.operation !== OperationTypeNode.SUBSCRIPTION) return;
    const fragments = new Map(
      document.definitions
        .filter((definition): definition is FragmentDefinitionNode => definition.kind === Kind.FRAGMENT_DEFINITION)
        .map((fragment) => [fragment.name.value, fragment]),
    );
    if (!hasCondition(operation.selectionSet, fragments)) return;
    throw operationError(new AppError('INVALID', 'The root field of a subscription must not have @skip or @include.'));
  },
};

/** Visits each fragment once: it is removed from the map. */
function hasCondition({ selections }: SelectionSetNode, fragments: Map<string, FragmentDefinitionNode>): boolean {
  return selections.some((selection) => {
    if (selection.directives?.some(({ name }) => name.value === 'skip' || name.value === 'include')) return true;
    if (selection.kind === Kind.FIELD) return false;
    if (selection.kind === Kind.INLINE_FRAGMENT) return hasCondition(selection.selectionSet, fragments);
    const fragment = fragments.get(selection.name.value);
    fragments.delete(selection.name.value);
    return fragment !== undefined && hasCondition(fragment.selectionSet, fragments);
  });
}
