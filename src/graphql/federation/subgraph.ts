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

const mostRepresentations = 100;

/** The API with the two root fields through which a router sees it: `_service` and `_entities`. */
export function asSubgraph(api: GraphQLSchema): GraphQLSchema {
  const { query: apiQuery, types, ...config } = api.toConfig();
  if (!apiQuery) throw new Error('The API has no queries.');
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
  description:
    'The subgraph’s own schema, for the composition of a larger graph. Answered to whoever may look at the schema.',
  type: new GraphQLNonNull(
    new GraphQLObjectType({
      name: '_Service',
      fields: {
        sdl: {
          type: GraphQLString,
          description: 'The schema in the schema definition language, with the directives of federation.',
        },
      },
    }),
  ),
  extensions: { credential: null },
  resolve: (_source, _args, _context, { schema }) => ({ sdl: sdlOf(schema) }),
};

const printed = new WeakMap<GraphQLSchema, string>();

/** Printed when it is first asked for: most processes never are. */
function sdlOf(schema: GraphQLSchema): string {
  const sdl = printed.get(schema) ?? printSubgraph(schema);
  printed.set(schema, sdl);
  return sdl;
}

function entitiesField(api: GraphQLSchema): RootField {
  const typeNames = new WeakMap<object, string>();
  const types = [...entities.keys()].map((name) => {
    const type = api.getType(name);
    if (!isObjectType(type)) throw new Error(`There is no type ${name} to be an entity.`);
    return type;
  });
  const anyEntity = new GraphQLUnionType({
    name: '_Entity',
    types,
    resolveType: (value: object) => typeNames.get(value),
  });
  const representation = new GraphQLScalarType({ name: '_Any' });
  return {
    description: `Entities by their keys, for routers; in the order asked for, null where there is none or it is not the caller’s to see. At most ${mostRepresentations} at once. Needs a service credential.`,
    type: new GraphQLNonNull(new GraphQLList(anyEntity)),
    args: {
      representations: { type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(representation))) },
    },
    extensions: { credential: 'service' },
    resolve: (_source, { representations }: { representations: readonly unknown[] }, context) =>
      requireEntities(representations).map(async ({ name, entity, representation }) => {
        const found = await entity.find(representation, context);
        if (found) typeNames.set(found, name);
        return found;
      }),
  };
}

/** Throws INVALID where there are too many, or one is of no type that can be referred to. */
function requireEntities(representations: readonly unknown[]) {
  if (representations.length > mostRepresentations) {
    const message = `at most ${mostRepresentations} entities can be asked for at once`;
    throw new AppError('INVALID', `There are too many representations: ${message}.`, {
      issues: [{ path: ['representations'], code: 'TOO_MANY', message }],
    });
  }
  return representations.map((representation, index) => {
    if (typeof representation === 'object' && representation !== null && '__typename' in representation) {
      const name = representation.__typename;
      const entity = typeof name === 'string' ? entities.get(name) : undefined;
      if (typeof name === 'string' && entity) return { name, entity, representation };
    }
    throw new AppError('INVALID', 'A representation is of no entity of this graph.', {
      issues: [
        { path: ['representations', index, '__typename'], code: 'MALFORMED_ARGUMENT', message: 'must name an entity' },
      ],
    });
  });
}
