import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes as AnyTypes } from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import type { CredentialKind } from '../../credentials/credential.js';
import { withAssertedName } from '../../http/actor-header.js';
import type { CallContext } from '../../keys/ports.js';
import { auditRejectedMutation } from '../audit.js';
import { callerOf, type Context } from '../context.js';
import { clearLoaders } from '../dataloaders.js';
import { runUntilDeadline } from '../execution/deadline.js';
import { problemsAsData } from './problems.js';

type Resolver<Source> = GraphQLFieldResolver<Source, Context, Record<string, unknown>>;

interface RootFieldAuth {
  readonly name: string;
  readonly kind: 'Query' | 'Mutation' | 'Subscription';
  readonly credential: CredentialKind;
}

/**
 * Authorizes a root field: its resolver receives the caller of the credential that the field requires, as its source. One
 * document may have fields of both kinds of credentials.
 *
 * Requires the credential before the arguments are validated, because validation errors would reveal the schema to
 * anonymous clients. Adds the name that a mutation is made for. Waits for a time slice, because validation of a large input
 * takes milliseconds, for each alias. Runs mutations until the deadline of the operation, writes rejected ones to the audit
 * log, and returns the problems of a definition as data if the operation selects them.
 */
export function authorized(
  { name, kind, credential }: RootFieldAuth,
  resolve: Resolver<CallContext>,
): Resolver<unknown> {
  const run: Resolver<unknown> = (source, args, context, info) => {
    // The credential was required when the subscription started.
    if (kind === 'Subscription' && source !== undefined) return resolve(source as CallContext, args, context, info);
    const authenticated = callerOf(context, credential);
    const caller =
      kind === 'Mutation' ? withAssertedName(authenticated, context.requestContext.headers) : authenticated;
    const { deadline, reads, loaders } = context;
    const start = () => {
      if (!deadline) return resolve(caller, args, context, info);
      clearLoaders(loaders);
      return runUntilDeadline(deadline, (change) => resolve({ ...caller, deadline: change }, args, context, info));
    };
    const slice = context.nextSlice();
    if (!slice) return start();
    return slice.then(() => {
      if (kind !== 'Mutation') reads.requireTime();
      return start();
    });
  };
  if (kind !== 'Mutation') return run;
  return async (source, args, context, info) => {
    try {
      return await run(source, args, context, info);
    } catch (error) {
      auditRejectedMutation(name, args, context, error);
      const problems = problemsAsData(error, info);
      if (problems) return problems;
      throw error;
    }
  };
}

/** Applies `authorized` to the root fields of the builder. */
export class AuthPlugin<Types extends AnyTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(config: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const auth = authOf(config);
    return auth ? { ...config, extensions: { ...config.extensions, credential: auth.credential } } : config;
  }

  // Wraps outside of the validation of arguments.
  override wrapArgMappers<Wrapped extends GraphQLFieldResolver<unknown, Types['Context'], object> | undefined>(
    resolve: Wrapped,
    config: PothosOutputFieldConfig<Types>,
  ) {
    const auth = authOf(config);
    return auth && resolve ? (authorized(auth, resolve) as Wrapped) : resolve;
  }
}

function authOf<Types extends AnyTypes>(config: PothosOutputFieldConfig<Types>): RootFieldAuth | undefined {
  const { name, kind, pothosOptions } = config;
  if (kind !== 'Query' && kind !== 'Mutation' && kind !== 'Subscription') return undefined;
  return { name, kind, credential: pothosOptions.credential };
}

SchemaBuilder.registerPlugin('auth', AuthPlugin);
