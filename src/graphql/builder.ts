import SchemaBuilder from '@pothos/core';
import DirectivesPlugin from '@pothos/plugin-directives';
import FederationPlugin from '@pothos/plugin-federation';
import RelayPlugin from '@pothos/plugin-relay';
import ValidationPlugin from '@pothos/plugin-validation';
import type { CredentialKind } from '../credential.js';
import { invalidDefinition, issuesOf } from '../keys/issues.js';
import type { Context } from './context.js';

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /**
     * The credential that a root field needs; null where whoever may look at the schema may ask it. A schema with a root
     * field that says nothing does not build.
     */
    credential?: CredentialKind | null;
  }
}

interface OurTypes {
  Context: Context;
  DefaultFieldNullability: false;
  DefaultNodeNullability: false;
  DefaultEdgesNullability: false;
  Scalars: {
    Int64: { Input: bigint; Output: bigint };
    DateTime: { Input: string; Output: string };
    JSON: { Input: unknown; Output: unknown };
    JSONObject: { Input: unknown; Output: unknown };
  };
}

/** Where all types are built. The rules of a definition reach its inputs through the validation plugin. */
export const builder = new SchemaBuilder<OurTypes>({
  // Directives go before federation, which would else lose @key and @link without a word.
  plugins: [RelayPlugin, ValidationPlugin, DirectivesPlugin, FederationPlugin],
  relay: {
    clientMutationId: 'omit',
    cursorType: 'String',
    nodeTypeOptions: { description: 'Whatever has an identifier of its own in this graph.' },
    // Every subgraph that has lists brings the same type.
    pageInfoTypeOptions: { description: 'Where a page stands in its list.', shareable: true },
    idFieldOptions: { description: 'Identifier in this graph.' },
    nodeQueryOptions: {
      description:
        'Anything by its identifier in this graph; null where there is none, or it is not yours to see. Needs a service credential.',
      extensions: { credential: 'service' },
      args: { id: { description: 'The identifier, as some `id` field answered it.' } },
    },
    nodesQueryOptions: false,
    nodeFieldOptions: { nullable: false, description: 'The item.' },
    edgesFieldOptions: { nullable: false, description: 'The items of the page, each with its place.' },
    cursorFieldOptions: { description: 'The place of the item, for `after` and `before`.' },
    pageInfoFieldOptions: { description: 'Where the page stands.' },
    hasNextPageFieldOptions: { description: 'Whether there is more after the page.' },
    hasPreviousPageFieldOptions: { description: 'Whether there is more before the page.' },
    startCursorFieldOptions: { description: 'The place of the first item; null where the page is empty.' },
    endCursorFieldOptions: { description: 'The place of the last item, for `after`; null where the page is empty.' },
    firstArgOptions: { description: 'How many items from the front.' },
    lastArgOptions: { description: 'How many items from the end.' },
    afterArgOptions: { description: 'Only what comes after this place.' },
    beforeArgOptions: { description: 'Only what comes before this place.' },
    defaultConnectionTypeOptions: { description: 'A page of a list.' },
    defaultEdgeTypeOptions: { description: 'An item in its place in the list.' },
  },
  defaultFieldNullability: false,
  validation: {
    validationError: ({ issues }) => {
      const found = issuesOf(issues as Parameters<typeof issuesOf>[0], 'update');
      // A problem's path begins with the argument it stands in; callers know the definition, not our argument.
      return invalidDefinition(found.map((issue) => ({ ...issue, path: issue.path.slice(1) })));
    },
  },
});

/** Our types and the builder's defaults, as references to types need them. */
export type SchemaTypes = typeof builder.$inferSchemaTypes;

builder.queryType({ description: 'What can be asked. Each field says which credential it needs.' });
builder.mutationType({ description: 'What can be changed. Each field says which credential it needs.' });
