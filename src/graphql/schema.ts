import { defaultFieldResolver, type GraphQLSchema } from 'graphql';
import { builder } from './builder.js';
import { callerOf, type Context } from './context.js';
import './preview-key.js';
import './scalars.js';
import './update-org-key.js';
import './bulk.js';
import './consume-org-quota.js';
import './entities.js';
import './key-life.js';
import './org-keys.js';
import { asSubgraph } from './subgraph.js';

/** The API as people read it, without what only routers ask. */
export const schema = builder.toSchema();

/** The schema that is served: the API as a federation subgraph. Every root field asks for its credential first. */
export const servedSchema = guarded(asSubgraph());

/**
 * Puts the question for the credential outside of everything that Pothos wraps round a resolver, because its
 * validation would otherwise tell an anonymous caller what is wrong with an input.
 */
function guarded(built: GraphQLSchema): GraphQLSchema {
  for (const root of [built.getQueryType(), built.getMutationType(), built.getSubscriptionType()]) {
    for (const field of Object.values(root?.getFields() ?? {})) {
      const { credential } = field.extensions;
      if (credential === undefined)
        throw new Error(`The root field ${field.name} does not say which credential it needs.`);
      const resolve = field.resolve ?? defaultFieldResolver;
      field.resolve = (source: unknown, args: Record<string, unknown>, context: Context, info) => {
        if (credential) callerOf(context, credential);
        return resolve(source, args, context, info);
      };
    }
  }
  return built;
}
