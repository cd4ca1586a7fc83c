// Resolves `graphql` to version 16 in every module of a peer, our schema included: Apollo Server and Mercurius need it.
import { registerHooks } from 'node:module';

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    nextResolve(specifier, /^graphql(\/|$)/.test(specifier) ? { ...context, parentURL: import.meta.url } : context),
});
