import SchemaBuilder from '@pothos/core';
import RelayPlugin from '@pothos/plugin-relay';
import ValidationPlugin from '@pothos/plugin-validation';
import type { CredentialKind } from '../../credentials/credential.js';
import { invalidDefinition, issuesOf } from '../../keys/definition/issues.js';
import type { CallContext } from '../../keys/ports.js';
import type { Path } from '../../lib/errors.js';
import type { Context } from '../context.js';
import './auth-plugin.js';
import { pageSizes, type PageSizes } from './pagination.js';

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** The credential that the field requires. For a root field, `authorized` applies it. */
    credential?: CredentialKind;
    /** Whether it is for compatibility with the REST key API only. Supergraphs do not show it. */
    isCompatibility?: boolean;
    /** Whether the subgraph omits it: its name belongs to the company in a supergraph, or its secrets must not pass a router. */
    isOutsideSubgraph?: boolean;
    /** Whether it may contain a secret, such as a key identifier or free-form data. */
    isSensitive?: boolean;
    /** Whether another subgraph may also resolve it. */
    isShareable?: boolean;
    /** The page sizes of a field that takes `first`. Default: those of connections. */
    pageSizes?: PageSizes;
  }
}

interface OurTypes {
  Context: Context;
  /** The source of a root field is its caller. */
  Root: CallContext;
  DefaultFieldNullability: false;
  DefaultNodeNullability: true;
  DefaultEdgesNullability: { list: true; items: true };
  Scalars: {
    /** `scalars.ts` converts safe integers to strings. */
    ID: { Input: string; Output: string | number };
    Int64: { Input: bigint; Output: bigint };
    KeyDateTime: { Input: string; Output: string };
    JSON: { Input: unknown; Output: unknown };
    JSONObject: { Input: unknown; Output: unknown };
  };
}

/** The schema builder. The validation plugin applies the rules of definitions to inputs. */
export const builder = new SchemaBuilder<OurTypes>({
  plugins: ['auth', RelayPlugin, ValidationPlugin],
  relay: {
    clientMutationId: 'omit',
    cursorType: 'String',
    nodeTypeOptions: {
      description: 'An object with a global identifier, which `Query.node` fetches again.',
    },
    pageInfoTypeOptions: { description: 'Pagination information of a connection.' },
    idFieldOptions: { description: 'Global identifier of the object, for `Query.node`. Opaque.' },
    nodeQueryOptions: {
      description:
        'Fetches an object by its global identifier. Null if it does not exist or is not visible to the credential. Requires a service credential. Errors: INVALID if `id` is not a global identifier of this API.',
      credential: 'service',
      args: { id: { description: 'The value of an `id` field.' } },
    },
    nodesQueryOptions: false,
    nodeFieldOptions: { nullable: true, description: 'The item. Null with an error if it cannot be read.' },
    edgesFieldOptions: {
      nullable: { list: true, items: true },
      description: 'The items of the page, each with its cursor. Null if an error is returned.',
    },
    cursorFieldOptions: {
      description:
        'Cursor of the item, for `after` and `before`. Opaque; valid for the same list with the same filter and order.',
    },
    pageInfoFieldOptions: { description: 'Pagination information of the page.' },
    hasNextPageFieldOptions: {
      description:
        'Whether more items follow the page. In a list of keys, true without a check when paging backwards with `before`.',
    },
    hasPreviousPageFieldOptions: {
      description:
        'Whether more items precede the page. In a list of keys, true without a check when paging forwards with `after`.',
    },
    startCursorFieldOptions: {
      description: 'Cursor of the first item, for `before`. Null if the page is empty.',
    },
    endCursorFieldOptions: { description: 'Cursor of the last item, for `after`. Null if the page is empty.' },
    firstArgOptions: { description: pageSizeDescription('first') },
    lastArgOptions: { description: pageSizeDescription('last') },
    afterArgOptions: {
      description: 'Returns only items after this cursor of the same list with the same filter and order.',
    },
    beforeArgOptions: {
      description: 'Returns only items before this cursor of the same list with the same filter and order.',
    },
    defaultConnectionTypeOptions: { description: 'A page of a list.' },
    defaultEdgeTypeOptions: { description: 'An item of a list and its cursor.' },
  },
  defaultFieldNullability: false,
  validation: {
    validationError: ({ issues }) => {
      const definitionIssues = issuesOf(issues as Parameters<typeof issuesOf>[0], 'update');
      return invalidDefinition(definitionIssues.map((issue) => ({ ...issue, path: inDefinition(issue.path) })));
    },
  },
});

/** The path in the definition, which clients expect. It is an argument, or a member of the kind of `change` to propose. */
function inDefinition(path: Path): Path {
  return path.slice(path[0] === 'change' ? 3 : 1);
}

function pageSizeDescription(argument: 'first' | 'last'): string {
  const { defaultSize, maxSize } = pageSizes;
  const other = argument === 'first' ? 'last' : 'first';
  const fallback =
    argument === 'first'
      ? `${defaultSize}, unless \`last\` or \`before\` is given`
      : `${defaultSize} if \`before\` is given without \`first\``;
  return `Returns the ${argument} *n* items, 0 to ${maxSize}; larger values are capped. Default: ${fallback}. Cannot be combined with \`${other}\`.`;
}

/** Our types with the builder's defaults, for references to types. */
export type SchemaTypes = typeof builder.$inferSchemaTypes;

const rootTypeErrors =
  'Each field states the credential that it requires and its specific errors. Every field can also fail with UNAUTHENTICATED, RATE_LIMITED, INVALID, TOO_LARGE, UNAVAILABLE or INTERNAL.';

builder.queryType({
  description: `Read operations. ${rootTypeErrors}`,
});
builder.subscriptionType({
  description: `Streams of events over text/event-stream. ${rootTypeErrors}`,
});
builder.mutationType({
  description: `Write operations. Several in one request are executed one after another, each in its own transaction. ${rootTypeErrors}`,
});
