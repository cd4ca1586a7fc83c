import type { GraphQLResolveInfo } from 'graphql';
import { AppError, type Issue } from '../../lib/errors.js';
import { selectedFields } from './selection.js';

/** The problems of a definition, or of the other arguments, as the result of a mutation that changed nothing. */
export interface DefinitionProblems {
  readonly issues: readonly Issue[];
}

/**
 * Returns the problems of the definition if the operation selects `issues` of the payload, and so expects them as data.
 * Undefined for any other error, and for any other operation, which receives the error.
 */
export function problemsAsData(error: unknown, info: GraphQLResolveInfo): DefinitionProblems | undefined {
  if (!(error instanceof AppError) || error.code !== 'INVALID' || error.issues.length === 0) return undefined;
  return selectedFields(info).some(({ name }) => name.value === 'issues') ? { issues: error.issues } : undefined;
}
