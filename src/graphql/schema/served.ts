import { defaultFieldResolver, type GraphQLSchema } from 'graphql';
import { withAuditLog } from '../audit.js';
import { callerOf, type Context } from '../context.js';
import { runUntilDeadline } from '../plugins/use-deadline.js';
import { builder } from './index.js';
import { createSubgraph } from '../federation/subgraph.js';

/** The schema that is served: the API as a federation subgraph. Every root field asks for its credential first. */
export const servedSchema = withAuditLog(withAuthorization(createSubgraph(builder.toSchema({ sortSchema: false }))));

/**
 * Puts the question for the credential outside of everything that Pothos wraps round a resolver, because its
 * validation would otherwise tell an anonymous caller what is wrong with an input; and runs each mutation until the deadline. A
 * field begins in a time slice: the validation of a large input takes milliseconds, and each alias has its own.
 */
function withAuthorization(schema: GraphQLSchema): GraphQLSchema {
  const mutations = schema.getMutationType();
  for (const root of [schema.getQueryType(), mutations, schema.getSubscriptionType()]) {
    for (const field of Object.values(root?.getFields() ?? {})) {
      const { credential } = field.extensions;
      if (credential === undefined)
        throw new Error(`The root field ${field.name} does not say which credential it needs.`);
      const resolve = field.resolve ?? defaultFieldResolver;
      field.resolve = (source: unknown, args: Record<string, unknown>, context: Context, info) => {
        if (credential) callerOf(context, credential);
        const run = () =>
          root === mutations
            ? runUntilDeadline(context, (own) => resolve(source, args, own, info))
            : resolve(source, args, context, info);
        const slice = context.nextSlice();
        if (!slice) return run();
        return slice.then(() => {
          if (root !== mutations) context.reads.requireTime();
          return run();
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
  return schema;
}
