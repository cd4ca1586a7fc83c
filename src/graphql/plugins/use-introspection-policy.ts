import { Kind, OperationTypeNode, type DocumentNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { hasPrincipal, noCredential, throwIfRateLimited } from '../../credentials/credential.js';
import type { ServerContext } from '../context.js';
import { operationError } from '../errors.js';
import { documentIDOf } from '../execution/params.js';

/** Which clients may introspect the schema: all, or those with a valid credential only. */
export type IntrospectionPolicy = 'open' | 'credential';

/**
 * Rejects every operation of a client that may not introspect, except `{ __typename }`, with the same error and before
 * validation: a response does not reveal whether a name exists.
 */
export function useIntrospectionPolicy(policy: IntrospectionPolicy): Plugin<object, ServerContext> {
  // Records requests that are permitted, not those that are rejected: a missing record rejects.
  const permittedContexts = new WeakSet<object>();
  return {
    async onParams({ params, context }) {
      if (policy === 'open') {
        permittedContexts.add(context);
        return;
      }
      const auth = await context.requestContext.principal();
      throwIfRateLimited(auth);
      if (hasPrincipal(auth)) permittedContexts.add(context);
      // Before the document is looked up: the result would reveal which ids are trusted.
      else if (documentIDOf(params) !== undefined) throw operationError(noCredential());
    },
    onValidate({ context, params }) {
      if (permittedContexts.has(context) || selectsOnlyTypename(params.documentAST as DocumentNode)) return;
      // Throws, because Yoga would cache a result and return it for the next request with this document.
      throw operationError(noCredential());
    },
  };
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
