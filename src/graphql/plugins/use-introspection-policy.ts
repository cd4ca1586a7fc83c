import { Kind, OperationTypeNode, type DocumentNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { noCredential, throwIfRateLimited, type AuthContext } from '../../credentials/credential.js';
import type { ServerContext } from '../context.js';
import { operationError } from '../errors.js';
import { documentIDOf } from './use-trusted-documents.js';

/** Who may learn what the schema holds: everybody, or requests with a valid credential only. */
export const introspectionPolicies = ['open', 'credential'] as const;
export type IntrospectionPolicy = (typeof introspectionPolicies)[number];

/**
 * Answers all operations of those who may not introspect alike, `{ __typename }` excepted, and before anything compares
 * them with the schema: a name that exists looks like one that does not, and there is no error to give a hint.
 */
export function useIntrospectionPolicy(policy: IntrospectionPolicy): Plugin<object, ServerContext> {
  // Those who may are marked, and not those who may not: a mark that got lost would close the door, not open it.
  const admitted = new WeakSet<object>();
  return {
    async onParams({ params, context }) {
      if (policy === 'open') {
        admitted.add(context);
        return;
      }
      const holder = await context.requestContext.principal();
      throwIfRateLimited(holder);
      if (mayIntrospect(policy, holder)) admitted.add(context);
      // Before the document is looked up, because that tells a trusted id from an unknown one.
      else if (documentIDOf(params) !== undefined) throw operationError(noCredential());
    },
    onValidate({ context, params }) {
      if (admitted.has(context) || isHarmless(params.documentAST as DocumentNode)) return;
      // Thrown, and not handed to Yoga as a result, which it would keep and give to the next caller with this document.
      throw operationError(noCredential());
    },
  };
}

/** Whether a holder may learn what the schema holds. */
export function mayIntrospect(policy: IntrospectionPolicy, { management, service }: AuthContext): boolean {
  return policy === 'open' || management !== undefined || service !== undefined;
}

/** Whether a document asks for nothing but `__typename` at the root, and names nothing of the schema. */
function isHarmless({ definitions }: DocumentNode): boolean {
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
