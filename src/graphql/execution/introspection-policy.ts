import { Kind, OperationTypeNode, type DocumentNode } from 'graphql';
import {
  hasPrincipal,
  noCredentialOfAnyKind,
  throwIfRateLimited,
  type AuthContext,
} from '../../credentials/credential.js';
import { operationError } from '../errors.js';

/** Which clients may introspect the schema: all, or those with a valid credential only. */
export type IntrospectionPolicy = 'open' | 'credential';

/**
 * Whether a client may use the names of the schema and of trusted documents.
 *
 * @throws {AppError} as `throwIfRateLimited`.
 */
export function mayIntrospect(policy: IntrospectionPolicy, auth: AuthContext): boolean {
  if (policy === 'open') return true;
  throwIfRateLimited(auth);
  return hasPrincipal(auth);
}

/**
 * Rejects every document of a client that may not introspect, except `{ __typename }`, with the same error and before
 * validation: a response does not reveal whether a name exists.
 *
 * @throws {GraphQLError} UNAUTHENTICATED for such a document.
 */
export function requireIntrospection(policy: IntrospectionPolicy, auth: AuthContext, document: DocumentNode): void {
  if (mayIntrospect(policy, auth) || selectsOnlyTypename(document)) return;
  throw operationError(noCredentialOfAnyKind(auth));
}

/** Whether a document selects only `__typename` at the root, without arguments, directives or variables. */
function selectsOnlyTypename({ definitions }: DocumentNode): boolean {
  return definitions.every(
    (definition) =>
      definition.kind === Kind.OPERATION_DEFINITION &&
      definition.operation === OperationTypeNode.QUERY &&
      !definition.variableDefinitions?.length &&
      !definition.directives?.length &&
      definition.selectionSet.selections.every(
        (selection) =>
          selection.kind === Kind.FIELD &&
          selection.name.value === '__typename' &&
          !selection.arguments?.length &&
          !selection.directives?.length &&
          !selection.selectionSet,
      ),
  );
}
