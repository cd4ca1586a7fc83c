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
import { AppError, type Path } from '../../lib/errors.js';
import type { Context } from '../context.js';
import { maxErrors } from '../execution/executor/execution-context.js';
import { authorized } from '../schema/auth-plugin.js';
import { entities } from './entities.js';
import { printSubgraph } from './print-subgraph.js';

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
  resolve: (_source, _args, _context, { schema }) => ({ sdl: sdlOf(schema) }),
};

const printed = new WeakMap<GraphQLSchema, string>();

/** Prints the schema on the first request for it, which is rare. */
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
  const credential = 'service';
  const anyScalar = new GraphQLScalarType({ name: '_Any' });
  return {
    description:
      'Resolves entities by their keys, for federation routers. A key that does not exist or is not visible to the credential is null. An item that fails is null, with its error: INVALID for a malformed representation, FORBIDDEN for an organization that the credential cannot access, INTERNAL for a damaged key. With more than 200 such items, the operation fails as a whole. The cost of the operation limits the number of representations. Requires a service credential.',
    type: new GraphQLNonNull(new GraphQLList(anyEntity)),
    args: {
      representations: { type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(anyScalar))) },
    },
    extensions: { credential },
    resolve: authorized({ name: '_entities', kind: 'Query', credential }, (caller, args, context) => {
      const { representations } = args as { readonly representations: readonly unknown[] };
      const failures: unknown[] = [];
      const find = (representation: unknown) => {
        const { name, entity } = entityOf(representation);
        const withType = (found: object | undefined) => {
          if (found) typeNames.set(found, name);
          return found;
        };
        const found = entity.find(representation as object, caller, context);
        return found instanceof Promise ? found.then(withType) : withType(found);
      };
      return representations.map((representation, index) => {
        // The executor ends the operation. Creating an error takes longer than finding an entity.
        if (failures.length > maxErrors) return failures[0];
        try {
          return find(representation);
        } catch (error) {
          failures.push(withPath(['representations', index], error));
          return failures.at(-1);
        }
      });
    }),
  };
}

/** @throws {AppError} INVALID when the type of the representation is not an entity. */
function entityOf(representation: unknown) {
  if (typeof representation === 'object' && representation !== null && '__typename' in representation) {
    const name = representation.__typename;
    const entity = typeof name === 'string' ? entities.get(name) : undefined;
    if (typeof name === 'string' && entity) return { name, entity };
  }
  throw new AppError('INVALID', 'The representation is not valid.', {
    issues: [{ path: ['__typename'], code: 'MALFORMED_ARGUMENT', message: 'must be an entity of this subgraph' }],
  });
}

/** Returns an error with this path prepended to the paths of its issues. */
function withPath(path: Path, error: unknown): unknown {
  if (!(error instanceof AppError) || error.issues.length === 0) return error;
  const issues = error.issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] }));
  return new AppError(error.code, error.message, { issues, cause: error });
}
