import { defaultFieldResolver, GraphQLSchema, type GraphQLFieldResolver } from 'graphql';
import { auditRejectedMutation } from '../audit.js';
import { callerOf, type Context } from '../context.js';
import { runUntilDeadline } from '../execution/deadline.js';
import { builder } from './index.js';
import { createSubgraph } from '../federation/subgraph.js';

/** The schema of the service: the API as a federation subgraph. Every root field requires its credential first. */
export const servedSchema = wrapRootFields(createSubgraph(withDescription(builder.toSchema({ sortSchema: false }))));

/** Adds the description of the service, which documentation explorers show first. Pothos has no option for it. */
export function withDescription(schema: GraphQLSchema): GraphQLSchema {
  return new GraphQLSchema({
    ...schema.toConfig(),
    description:
      'Keyfront manages the access keys of an API gateway: preview and safe updates of definitions, history, quotas and changes as they happen. A preview needs a management credential (`Authorization: Bearer kf_mgt_…`), every other operation a service credential (`X-Svc-Authorization: kf_svc_…`).',
  });
}

/**
 * Wraps every root field: requires its credential before Pothos validates the arguments (validation errors would reveal
 * the schema to anonymous clients), waits for a time slice (validation of a large input takes milliseconds, for each
 * alias), runs mutations until the deadline, and writes rejected ones to the audit log.
 */
function wrapRootFields(schema: GraphQLSchema): GraphQLSchema {
  const mutations = schema.getMutationType();
  for (const root of [schema.getQueryType(), mutations, schema.getSubscriptionType()]) {
    for (const field of Object.values(root?.getFields() ?? {})) {
      const { credential } = field.extensions;
      if (credential === undefined) throw new Error(`The root field ${field.name} does not state its credential.`);
      const resolve = field.resolve ?? defaultFieldResolver;
      const authorized: Resolver = (source, args, context, info) => {
        if (credential) callerOf(context, credential);
        const { deadline } = context;
        const run = () =>
          deadline
            ? runUntilDeadline(deadline, (changeDeadline) =>
                resolve(source, args, { ...context, changeDeadline }, info),
              )
            : resolve(source, args, context, info);
        const slice = context.nextSlice();
        if (!slice) return run();
        return slice.then(() => {
          if (root !== mutations) context.reads.requireTime();
          return run();
        });
      };
      field.resolve = root === mutations ? audited(field.name, authorized) : authorized;
      const { subscribe } = field;
      if (subscribe) {
        field.subscribe = (source, args: Record<string, unknown>, context: Context, info) => {
          if (credential) callerOf(context, credential);
          return subscribe(source, args, context, info);
        };
      }
    }
  }
  return schema;
}

type Resolver = GraphQLFieldResolver<unknown, Context, Record<string, unknown>>;

function audited(name: string, resolve: Resolver): Resolver {
  return async (source, args, context, info) => {
    try {
      return await resolve(source, args, context, info);
    } catch (error) {
      auditRejectedMutation(name, args, context, error);
      throw error;
    }
  };
}
