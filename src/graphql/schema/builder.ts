import SchemaBuilder from '@pothos/core';
import RelayPlugin from '@pothos/plugin-relay';
import ValidationPlugin from '@pothos/plugin-validation';
import type { CredentialKind } from '../../credentials/credential.js';
import { invalidDefinition, issuesOf } from '../../keys/definition/issues.js';
import type { Context } from '../context.js';
import { pageSizes, type PageSizes } from './pagination.js';

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /**
     * The credential that a root field needs; null where whoever may look at the schema may ask it. A schema with a root
     * field that says nothing does not build.
     */
    credential?: CredentialKind | null;
    /** The pages of a field that takes `first`, where they are not those of connections. */
    pageSizes?: PageSizes;
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
  plugins: [RelayPlugin, ValidationPlugin],
  relay: {
    clientMutationId: 'omit',
    cursorType: 'String',
    nodeTypeOptions: {
      description: 'Whatever has an identity of its own in this graph, and can be fetched again by its `id`.',
    },
    pageInfoTypeOptions: { description: 'Where a page stands in its list.' },
    idFieldOptions: { description: 'Identifier in this graph, for `Query.node`. Opaque: it says nothing by itself.' },
    nodeQueryOptions: {
      description:
        'Anything by its identifier in this graph; null where there is none, or it is not yours to see. Needs a service credential. Errors: INVALID for an identifier that no field answered.',
      extensions: { credential: 'service' },
      args: { id: { description: 'The identifier, as some `id` field answered it.' } },
    },
    nodesQueryOptions: false,
    nodeFieldOptions: { nullable: false, description: 'The item itself.' },
    edgesFieldOptions: { nullable: false, description: 'The items of the page, each with its place.' },
    cursorFieldOptions: {
      description:
        'The place of the item, for `after` and `before`. Opaque, and good for as long as the order is the same.',
    },
    pageInfoFieldOptions: { description: 'Where the page stands.' },
    hasNextPageFieldOptions: { description: 'Whether there is more after the page.' },
    hasPreviousPageFieldOptions: { description: 'Whether there is more before the page.' },
    startCursorFieldOptions: {
      description: 'The place of the first item, for `before`; null where the page is empty.',
    },
    endCursorFieldOptions: { description: 'The place of the last item, for `after`; null where the page is empty.' },
    firstArgOptions: { description: sizeOf('first', 'front') },
    lastArgOptions: { description: sizeOf('last', 'end') },
    afterArgOptions: { description: 'Only what comes after this place: a cursor of the same list, in the same order.' },
    beforeArgOptions: {
      description: 'Only what comes before this place: a cursor of the same list, in the same order.',
    },
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

function sizeOf(argument: 'first' | 'last', end: string): string {
  const { defaultSize, maxSize } = pageSizes;
  const other = argument === 'first' ? 'last' : 'first';
  return `How many items from the ${end}: from 0, and never more than ${maxSize}, however many are asked for. ${defaultSize} where neither this nor \`${other}\` is given; an error where both are.`;
}

/** Our types and the builder's defaults, as references to types need them. */
export type SchemaTypes = typeof builder.$inferSchemaTypes;

builder.queryType({
  description:
    'What can be asked. Each field says which credential it needs, and what errors it has beside UNAUTHENTICATED, INVALID and UNAVAILABLE.',
});
builder.subscriptionType({
  description:
    'What can be followed, over text/event-stream. Each field says which credential it needs, and what errors it has beside UNAUTHENTICATED, INVALID and UNAVAILABLE.',
});
builder.mutationType({
  description:
    'What can be changed. Each field says which credential it needs, and what errors it has beside UNAUTHENTICATED, INVALID and UNAVAILABLE.',
});
