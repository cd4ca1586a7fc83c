import { Kind, type GraphQLResolveInfo, type SelectionSetNode } from 'graphql';
import { AppError, type Issue } from '../../lib/errors.js';

/** The problems of a definition, as the result of a mutation that changed nothing. */
export interface DefinitionProblems {
  readonly issues: readonly Issue[];
}

/**
 * Returns the problems of the definition if the operation selects `issues` of the payload, and so expects them as data.
 * Undefined for any other error, and for any other operation, which receives the error.
 */
export function problemsAsData(error: unknown, info: GraphQLResolveInfo): DefinitionProblems | undefined {
  if (!(error instanceof AppError) || error.code !== 'INVALID' || error.issues.length === 0) return undefined;
  return selectsIssues(info) ? { issues: error.issues } : undefined;
}

function selectsIssues({ fieldNodes, fragments }: GraphQLResolveInfo): boolean {
  const selects = (set: SelectionSetNode | undefined): boolean =>
    set?.selections.some((selection) => {
      if (selection.kind === Kind.FIELD) return selection.name.value === 'issues';
      if (selection.kind === Kind.INLINE_FRAGMENT) return selects(selection.selectionSet);
      return selects(fragments[selection.name.value]?.selectionSet);
    }) ?? false;
  return fieldNodes.some(({ selectionSet }) => selects(selectionSet));
}
