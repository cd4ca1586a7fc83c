import { printSubgraphSchema } from '@apollo/subgraph';
import { hasResolvableKey } from '@pothos/plugin-federation';
import { isObjectType, parse, print, visit, type GraphQLSchema } from 'graphql';
import { AppError } from '../errors.js';
import type { CredentialKind } from '../credential.js';
import { builder } from './builder.js';

const mostRepresentations = 100;

/** The API with the two root fields through which a router sees it: `_service` and `_entities`. */
export function asSubgraph(): GraphQLSchema {
  const subgraph = builder.toSubGraphSchema({ linkUrl: 'https://specs.apollo.dev/federation/v2.9' });
  const { _entities: entities, _service: service } = subgraph.getQueryType()?.getFields() ?? {};
  const load = entities?.resolve;
  if (!load || !service) throw new Error('The subgraph has no entities.');

  service.description =
    'The subgraph’s own schema, for the composition of a larger graph. Answered to whoever may look at the schema.';
  service.extensions = { ...service.extensions, credential: null };
  let sdl: string | undefined;
  service.resolve = () => ({ sdl: (sdl ??= printSubgraph(subgraph)) });
  entities.description = `Entities by their keys, for routers; in the order asked for, null where there is none or it is not the caller’s to see. At most ${mostRepresentations} at once. Needs a service credential.`;
  entities.extensions = { ...entities.extensions, credential: 'service' satisfies CredentialKind };
  entities.resolve = (source, args: { representations: unknown[] }, context, info) => {
    requireEntities(subgraph, args.representations);
    return load(source, args, context, info);
  };
  return subgraph;
}

/** Types that other subgraphs have too, and of these the fields: theirs are the words, two descriptions of one thing being a hint. */
const describedElsewhere: Readonly<Record<string, readonly string[]>> = {
  Query: [],
  Mutation: [],
  Organization: ['id'],
  PageInfo: ['hasNextPage', 'hasPreviousPage', 'startCursor', 'endCursor'],
};

/**
 * The subgraph in SDL, for composition. It leaves out `node`: in a graph of many subgraphs each would answer it for its
 * own types only, so that it belongs to one that hands identifiers on; `OrgKey` is an entity by `id` for it.
 */
export function printSubgraph(subgraph: GraphQLSchema): string {
  const document = visit(parse(printSubgraphSchema(subgraph)), {
    ObjectTypeDefinition: (type) => {
      const shared = describedElsewhere[type.name.value];
      if (!shared) return undefined;
      const fields = (type.fields ?? [])
        .filter((field) => !(type.name.value === 'Query' && field.name.value === 'node'))
        .map((field) => (shared.includes(field.name.value) ? withoutDescription(field) : field));
      return { ...withoutDescription(type), fields };
    },
  });
  return print(document);
}

function withoutDescription<Node extends { readonly description?: unknown }>({ description: _, ...node }: Node) {
  return node;
}

/** Throws INVALID where there are too many, or one is of no type that can be referred to. */
function requireEntities(subgraph: GraphQLSchema, representations: readonly unknown[]): void {
  if (representations.length > mostRepresentations) {
    const message = `at most ${mostRepresentations} entities can be asked for at once`;
    throw new AppError('INVALID', `There are too many representations: ${message}.`, {
      issues: [{ path: ['representations'], code: 'TOO_MANY', message }],
    });
  }
  for (const [index, representation] of representations.entries()) {
    const name = typenameOf(representation);
    const type = name === undefined ? undefined : subgraph.getType(name);
    if (!type || !isObjectType(type) || !hasResolvableKey(type)) {
      throw new AppError('INVALID', 'A representation is of no entity of this graph.', {
        issues: [
          {
            path: ['representations', index, '__typename'],
            code: 'MALFORMED_ARGUMENT',
            message: 'must name an entity',
          },
        ],
      });
    }
  }
}

function typenameOf(representation: unknown): string | undefined {
  if (typeof representation !== 'object' || representation === null || !('__typename' in representation))
    return undefined;
  return typeof representation.__typename === 'string' ? representation.__typename : undefined;
}
