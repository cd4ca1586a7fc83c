import {
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  GraphQLUnionType,
  isObjectType,
  type GraphQLFieldConfig,
} from 'graphql';
import { AppError } from '../../lib/errors.js';
import type { Context } from '../context.js';
import { entities } from './entities.js';
import { printSubgraph } from './print-subgraph.js';

const maxRepresentations = 100;

/** The API schema with the root fields for federation routers: `_service` and `_entities`. */
export function createSubgraph(api: GraphQLSchema): GraphQLSchema {
  const { query: apiQuery, types, ...config } = api.toConfig();
  if (!apiQuery) throw new Error('The API has no query type.');
  const { fields, ...queryConfig } = apiQuery.toConfig();
  const query = new GraphQLObjectType({
    ...queryConfig,
    fields: { _entities: entitiesField(api), _service, ...fields },
  });
  const rest = types.filter((type) => type !== apiQuery);
  return new GraphQLSchema({ ...config, query, types: [...rest, query] });
}

type RootField = GraphQLFieldConfig<unknown, Context>;

const _service: RootField = {
  description: 'The schema of this subgraph, for composition. Available to clients that may introspect.',
  type: new GraphQLNonNull(
    new GraphQLObjectType({
      name: '_Service',
      fields: {
        sdl: {
          type: GraphQLString,
          description: 'The schema in SDL, with the federation directives.',
        },
      },
    }),
  ),
  extensions: { credential: null },
  resolve: (_source, _args, _context, { schema }) => ({ sdl: sdlOf(schema) }),
};

const printed = new WeakMap<GraphQLSchema, string>();

/** Printed when it is first requested, which is rare. */
function sdlOf(schema: GraphQLSchema): string {
  const sdl = printed.get(schema) ?? printSubgraph(schema);
  printed.set(schema, sdl);
  return sdl;
}

function entitiesField(api: GraphQLSchema): RootField {
  const typeNames = new WeakMap<object, string>();
  const types = [...entities.keys()].map((name) => {
    const type = api.getType(name);
    if (!isObjectType(type)) throw new Error(`The entity ${name} is not an object type of the API.`);
    return type;
  });
  const anyEntity = new GraphQLUnionType({
    name: '_Entity',
    types,
    resolveType: (value: object) => typeNames.get(value),
  });
  const anyScalar = new GraphQLScalarType({ name: '_Any' });
  return {
    description: `Resolves entities by their keys, for federation routers. An item is null if the entity does not exist or is not visible to the credential. At most ${maxRepresentations} representations. Requires a service credential.`,
    type: new GraphQLNonNull(new GraphQLList(anyEntity)),
    args: {
      representations: { type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(anyScalar))) },
    },
    extensions: { credential: 'service' },
    resolve: (_source, { representations }: { representations: readonly unknown[] }, context) =>
      entitiesOf(representations).map(async ({ name, entity, representation }) => {
        const resolved = await entity.find(representation, context);
        if (resolved) typeNames.set(resolved, name);
        return resolved;
      }),
  };
}

/**
 * The entities of the representations.
 *
 * @throws {AppError} INVALID when there are too many, or one has a type that is not an entity.
 */
function entitiesOf(representations: readonly unknown[]) {
  if (representations.length > maxRepresentations) {
    const message = `must have at most ${maxRepresentations} items`;
    throw new AppError('INVALID', `\`representations\` ${message}.`, {
      issues: [{ path: ['representations'], code: 'TOO_MANY', message }],
    });
  }
  return representations.map((representation, index) => {
    if (typeof representation === 'object' && representation !== null && '__typename' in representation) {
      const name = representation.__typename;
      const entity = typeof name === 'string' ? entities.get(name) : undefined;
      if (typeof name === 'string' && entity) return { name, entity, representation };
    }
    throw new AppError('INVALID', 'The `__typename` of a representation must be an entity of this subgraph.', {
      issues: [
        {
          path: ['representations', index, '__typename'],
          code: 'MALFORMED_ARGUMENT',
          message: 'must be an entity of this subgraph',
        },
      ],
    });
  });
}
