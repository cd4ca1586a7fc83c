import { defaultFieldResolver, type GraphQLSchema } from 'graphql';
import { audited } from '../audit.js';
import { callerOf, type Context } from '../context.js';
import { runUntilDeadline } from '../plugins/use-deadline.js';
import { builder } from './index.js';
import { asSubgraph } from '../federation/subgraph.js';

/** The schema that is served: the API as a federation subgraph. Every root field asks for its credential first. */
export const servedSchema = audited(guarded(asSubgraph(builder.toSchema({ sortSchema: false }))));

/**
 * Puts the question for the credential outside of everything that Pothos wraps round a resolver, because its
 * validation would otherwise tell an anonymous caller what is wrong with an input; and runs each mutation until the deadline. A
 * field begins in a time slice: the validation of a large input takes milliseconds, and each alias has its own.
 */
function guarded(built: GraphQLSchema): GraphQLSchema {
  const mutations = built.getMutationType();
  for (const root of [built.getQueryType(), mutations, built.getSubscriptionType()]) {
    for (const field of Object.values(root?.getFields() ?? {})) {
      const { credential } = field.extensions;
      if (credential === undefined)
        throw new Error(`The root field ${field.name} does not say which credential it needs.`);
      const resolve = field.resolve ?? defaultFieldResolver;
      field.resolve = (source: unknown, args: Record<string, unknown>, context: Context, info) => {
        if (credential) callerOf(context, credential);
        const begin = () =>
          root === mutations
            ? runUntilDeadline(context, (own) => resolve(source, args, own, info))
            : resolve(source, args, context, info);
        const slice = context.nextSlice();
        if (!slice) return begin();
        return slice.then(() => {
          if (root !== mutations) context.reads.requireTime();
          return begin();
        });
      };
      const { subscribe } = field;
      if (subscribe) {
        field.subscribe = (source: unknown, args: Record<string, unknown>, context: Context, info) => {
          if (credential) callerOf(context, credential);
          return subscribe(source, args, context, info);
        };
      }
    }
  }
  return built;
}
